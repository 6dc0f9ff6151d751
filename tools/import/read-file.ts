import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UserError } from '../command.ts';

/** A file being read. */
export interface InputFile {
  /** Its content, unpacked if it is gzip. To be read once. */
  content: AsyncIterable<Uint8Array>;
  /** Size on disk in bytes; null for a pipe, whose size nobody knows. */
  size: number | null;
  /** Bytes read from the disk so far, at most `size`. */
  bytesRead(): number;
}

/**
 * Opens a file, plain or gzip: gzip is what is named `.gz` or begins with gzip's two magic bytes (RFC 1952, 2.3.1).
 * Content is read as it is asked for, so that a file of any size passes.
 *
 * @throws UserError naming the file, at once or while the content is read: missing, a directory, not readable, named
 *   `.gz` and not gzip, damaged or cut off
 */
export async function readInputFile(path: string): Promise<InputFile> {
  const info = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (info.isDirectory()) throw new UserError(`${path}: is a directory, not a file`);
  const source = createReadStream(path);
  return {
    content: unpacked(path, source),
    size: info.isFile() ? info.size : null,
    bytesRead: () => source.bytesRead,
  };
}

async function* unpacked(path: string, source: Readable): AsyncGenerator<Uint8Array, void> {
  try {
    const chunks: AsyncIterableIterator<Buffer> = source[Symbol.asyncIterator]();
    let head = Buffer.alloc(0);
    while (head.length < 2) {
      const next = await chunks.next();
      if (next.done) break;
      head = Buffer.concat([head, next.value]);
    }
    const isGzip = head[0] === 0x1f && head[1] === 0x8b;
    if (!isGzip && path.endsWith('.gz')) throw new UserError(`${path}: is named .gz, but it is not a gzip file`);
    yield* isGzip ? gunzip(chain(head, chunks)) : chain(head, chunks);
  } catch (error) {
    throw error instanceof UserError ? error : unreadable(path, error);
  } finally {
    source.destroy();
  }
}

async function* chain(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield head;
  yield* rest;
}

async function* gunzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  // Errors of either stream come out of the iteration; the callback only keeps them from being thrown a second time.
  yield* pipeline(Readable.from(chunks), createGunzip(), () => {});
}

function unreadable(path: string, error: unknown): UserError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : REASONS[code];
  return new UserError(`${path}: ${reason ?? message}`, { cause: error });
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'may not be read: permission denied',
  Z_BUF_ERROR: 'the gzip file is cut off',
  Z_DATA_ERROR: 'the gzip file is damaged',
};
