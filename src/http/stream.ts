import type { Chunks } from '../encode/bytes.ts';
import type { AppEnv } from './context.ts';
import { ApiError, namedError } from './errors.ts';
import { logFailure, reasonOf } from './log.ts';
import type { TransferEnd } from './request-stats.ts';

/**
 * A file is written in parts of `writeBytes`, and its client has to take each within `stallMs`
 * milliseconds: 0.9 KiB a second is enough. The runtime copies each part, so larger parts take more
 * memory; smaller ones leave more garbage.
 */
const FILE_PACE = { writeBytes: 256 * 1024, stallMs: 5 * 60_000 };
/** Likewise for a page, whose body is held in memory until the client has taken it. */
const PAGE_PACE = { writeBytes: 64 * 1024, stallMs: 10_000 };
/** How often a transfer is checked for a stall, in milliseconds. */
const WATCH_MS = 2_500;

type RequestContext = Pick<AppEnv['Variables'], 'requestAbort' | 'requestId' | 'signal' | 'stats'>;

/**
 * Streams chunks as they are read, and sets `stats.transfer`.
 *
 * The transfer is aborted if reading a chunk fails, if the client is too slow, because a transfer
 * holds memory, and if its key is no longer valid. The client sees neither a clean end nor error
 * text in the file, so the error is logged.
 *
 * The next chunk is read when the client has consumed the previous one, whose memory may then be
 * reused. Among workerd's streams, IdentityTransformStream guarantees this: a write resolves when
 * its bytes have been read.
 *
 * @param chunks the body; empty ones are skipped
 * @param length the number of bytes of the body, if known: the response gets a `Content-Length`
 */
export function streamChunks(
  chunks: Chunks,
  request: RequestContext,
  { isFile, length }: { readonly isFile: boolean; readonly length?: number | undefined },
): ReadableStream<Uint8Array> {
  const { readable, writable } =
    length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
  const pace = isFile ? FILE_PACE : PAGE_PACE;
  request.stats.transfer = pump(chunks, writable.getWriter(), request, pace);

  return readable;
}

async function pump(
  chunks: Chunks,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  { requestAbort, requestId, signal, stats }: RequestContext,
  { writeBytes, stallMs }: typeof FILE_PACE,
): Promise<TransferEnd> {
  let writingSince: number | undefined;
  /** Why the service aborted the transfer: the client is too slow, or its key was revoked. */
  let stopped: unknown;

  // rejects if the client has disconnected
  const abort = (reason: unknown) => void writer.abort(reason).catch(() => {});
  const stop = (reason: Error) => {
    stopped ??= reason;
    abort(reason);
  };

  const stopIfRevoked = () => signal.reason instanceof ApiError && stop(signal.reason);
  signal.addEventListener('abort', stopIfRevoked);
  stopIfRevoked();

  // Notices a client that disconnects between writes, while the next chunk is being read.
  writer.closed.catch((error: unknown) => requestAbort.abort(error));

  const stalled = `the client did not take ${writeBytes} bytes within ${stallMs / 1000} s`;
  const watch = setInterval(() => {
    const isStalled = Date.now() - (writingSince ?? Infinity) >= stallMs;
    if (isStalled) stop(namedError('StalledClientError', stalled));
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
    logFailure('export failed', requestId, cause);
    return { end: 'failed', reason: reasonOf(cause) };
  } finally {
    clearInterval(watch);
  }
}
