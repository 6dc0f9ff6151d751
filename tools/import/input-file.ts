import { once } from 'node:events';
import { constants, createReadStream, type ReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UserError } from '../command.ts';

export type InputFile = Awaited<ReturnType<typeof openInput>>;

/**
 * A file to read, plain or gzip. It is gzip if it starts with gzip's first magic byte, which no
 * text has (RFC 1952, section 2.3.1); a file named `.gz` has to be gzip. The content is streamed, so it can have any
 * size.
 *
 * @throws UserError naming the file if it is missing, a directory or not readable
 */
export async function openInput(path: string) {
  const info = await stat(path).catch(unreadable(path));
  if (info.isDirectory()) throw new UserError(`${path}: is a directory, not a file`);
  await access(path, constants.R_OK).catch(unreadable(path));
  let source: ReadStream | undefined;
  let isGzip = false;

  /**
   * The file's bytes, decompressed if it is gzip.
   *
   * @throws UserError naming the file if it is named `.gz` but is not gzip, or is damaged or
   * truncated
   */
  async function* content(): AsyncGenerator<Uint8Array, void> {
    source = createReadStream(path);
    try {
      await once(source, 'readable');
      const start = source.read() as Buffer | null;
      if (start) source.unshift(start);
      isGzip = start?.[0] === 0x1f;
      if (!isGzip && path.endsWith('.gz'))
        throw new UserError(
          `${path}: is named .gz, but is not a gzip file: if it is CSV, remove .gz from its name`,
        );

      const chunks: AsyncIterableIterator<Buffer> = source[Symbol.asyncIterator]();
      yield* isGzip ? gunzip(chunks) : chunks;
    } catch (error) {
      throw error instanceof UserError ? error : unreadable(path)(error);
    } finally {
      source.destroy();
    }
  }

  return {
    path,
    content,
    /** How much has been read from the disk, in words. A pipe has no size. */
    progress(): string {
      const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
      return `${megabytes(source?.bytesRead ?? 0)}${info.isFile() ? ` of ${megabytes(info.size)}` : ''} MB`;
    },
    /**
     * Reads a gzip file again, up to the checksum at its end. Call this before you report an error
     * in the content, because a damaged file may first decompress to garbage.
     *
     * @throws UserError like `content`
     */
    async checkGzip(): Promise<void> {
      if (isGzip && info.isFile()) for await (const chunk of content()) void chunk;
    },
  };
}

/** zlib takes a chunk only after it has read the one before. */
const GUNZIP = { chunkSize: 64 * 1024, writableHighWaterMark: 1 };

/**
 * Decompresses every member of a gzip file. zlib stops at a zero byte after a member: gzip(1) skips
 * it, so this does as well.
 */
async function* gunzip(chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  const next = async () => (await chunks.next()).value as Buffer | undefined;
  let chunk = await next();
  while (chunk) {
    const first = chunk.findIndex((byte) => byte !== 0);
    if (first === -1) {
      chunk = await next();
      continue;
    }

    chunk = chunk.subarray(first);

    const zlib = createGunzip(GUNZIP);
    const member = async function* (): AsyncGenerator<Buffer, void> {
      let given = 0;
      while (chunk) {
        given += chunk.length;
        yield chunk;

        const unread = given - zlib.bytesWritten;
        if (unread > 0) {
          chunk = chunk.subarray(-unread);
          return;
        }

        chunk = await next();
      }
    };

    // The iteration throws the errors of both streams; the callback only keeps them from being
    // thrown twice.
    yield* pipeline(member, zlib, () => {});
  }
}

/** Throws an error that names the file, for an error of Node.js. */
function unreadable(path: string) {
  return (error: unknown): never => {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new UserError(`${path}: ${REASONS[code] ?? message}`, { cause: error });
  };
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'cannot be read: permission denied',
  Z_BUF_ERROR: 'the gzip file is cut off',
  Z_DATA_ERROR: 'the gzip file is damaged, or has other bytes after its end',
};
