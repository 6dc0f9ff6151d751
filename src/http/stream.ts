import type { AppEnv } from './context.ts';
import { ApiError, StalledClientError } from './errors.ts';
import { detailsOf, logFailure, reasonOf } from './log.ts';
import type { TransferEnd } from './request-stats.ts';

/**
 * How fast a client has to take a file: so many bytes, which are written at a time, within so many
 * milliseconds. 0.9 KiB a second is enough. The runtime copies each write, so larger ones take more
 * memory; many small ones leave more garbage.
 */
const FILE_PACE = { writeBytes: 256 * 1024, stallMs: 5 * 60_000 };
/** The body of a page is held in memory until it has been taken. */
const PAGE_PACE = { writeBytes: 64 * 1024, stallMs: 10_000 };
/** How often the watch of a transfer looks at the clock, in milliseconds. */
const WATCH_MS = 2_500;

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
type Client = Pick<AppEnv['Variables'], 'requestAbort' | 'requestId' | 'signal' | 'stats'>;

/**
 * Streams chunks as they are read, and sets `stats.transfer`. If reading one fails, the transfer is
 * aborted: the client sees neither a clean end nor error text in the file. So it is if the client
 * is too slow, because the transfer holds memory, and if its key is no longer valid. These errors
 * are logged, since the client sees only the aborted transfer.
 *
 * The next chunk is read when the previous one has been consumed, whose memory may then be reused.
 * Among workerd's streams, IdentityTransformStream guarantees this: a write resolves when its bytes
 * have been read.
 *
 * @param chunks the body; empty ones are skipped
 * @param length the number of bytes of the body, if known: the response gets a `Content-Length`
 */
export function streamChunks(
  chunks: Chunks,
  client: Client,
  { isFile, length }: { readonly isFile: boolean; readonly length?: number | undefined },
): ReadableStream<Uint8Array> {
  const { readable, writable } =
    length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
  client.stats.transfer = pump(
    chunks,
    writable.getWriter(),
    client,
    isFile ? FILE_PACE : PAGE_PACE,
  );
  return readable;
}

async function pump(
  chunks: Chunks,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  { requestAbort, requestId, signal, stats }: Client,
  { writeBytes, stallMs }: typeof FILE_PACE,
): Promise<TransferEnd> {
  let writingSince: number | undefined;
  /**
   * Why the transfer was aborted although its client was connected, and the chunks could be read.
   */
  let stopped: unknown;
  // rejects if the client has disconnected
  const abort = (reason: unknown) => void writer.abort(reason).catch(() => {});
  const stop = (reason: unknown) => {
    stopped ??= reason;
    abort(reason);
  };
  const stopIfRevoked = () => {
    if (signal.reason instanceof ApiError) stop(signal.reason); // the key was revoked
  };
  signal.addEventListener('abort', stopIfRevoked);
  stopIfRevoked();
  // Notices a client that disconnects between writes, while the next chunk is being read.
  writer.closed.catch((error: unknown) => requestAbort.abort(error));
  const watch = setInterval(() => {
    if (writingSince !== undefined && Date.now() - writingSince >= stallMs)
      stop(
        new StalledClientError(
          `the client did not take ${writeBytes} bytes within ${stallMs / 1000} s`,
        ),
      );
  }, WATCH_MS);
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += writeBytes) {
        const part = chunk.subarray(at, at + writeBytes);
        const { length } = part;
        writingSince = Date.now();
        await writer.write(part);
        writingSince = undefined;
        stats.bytes += length;
      }
    }
    writingSince = Date.now();
    await writer.close();
    return { end: 'complete' };
  } catch (error) {
    const hasLeft = writingSince !== undefined || signal.aborted;
    requestAbort.abort(error);
    abort(error);
    if (hasLeft && stopped === undefined) return { end: 'client left' };
    const cause = stopped ?? error;
    logFailure('export failed', { requestId, ...detailsOf(cause) });
    return { end: 'failed', reason: reasonOf(cause) };
  } finally {
    clearInterval(watch);
  }
}
