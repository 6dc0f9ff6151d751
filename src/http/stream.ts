import { StalledClientError } from './errors.ts';

/** How fast a client has to take a body: each write within a time. A client that does not is disconnected. */
export interface Pace {
  /** How many bytes are written at a time. */
  readonly writeBytes: number;
  /** In milliseconds. */
  readonly stallMs: number;
}

/** A file may be read slowly: 0.9 KiB a second. The runtime copies each write, so larger ones take more memory; many small ones leave more garbage. */
const FILE_PACE: Pace = { writeBytes: 256 * 1024, stallMs: 5 * 60_000 };
/** The body of a page is held in memory until it has been taken. */
export const PAGE_PACE: Pace = { writeBytes: 64 * 1024, stallMs: 10_000 };
/** How often, at least, a running transfer checks that its key is still valid, in milliseconds. */
const KEY_CHECK_MS = 10_000;
/** How often the watch of a transfer looks at the clock, in milliseconds. */
const WATCH_MS = 2_500;

/** Options and callbacks of a transfer. */
export interface Transfer {
  /** The number of bytes of the body, if known: the response gets a `Content-Length`. */
  readonly length?: number | undefined;
  /** That of a file unless given. */
  readonly pace?: Pace | undefined;
  /** This many more bytes were written to the client. */
  readonly sent: (bytes: number) => void;
  /** Called every 10 s, also while the client takes nothing. If it rejects, the transfer is aborted. */
  readonly checkKey?: () => Promise<void>;
  /** Called once. `left`: the client disconnected; `failed`: reading a chunk failed; `stopped`: the client stalled, or its key was refused. */
  readonly ended: (how: 'complete' | 'left' | 'failed' | 'stopped', error?: unknown) => void;
}

/**
 * Streams chunks as they are read. If reading one fails, the transfer is aborted: the client sees neither a clean end nor error
 * text in the file. So it is if the client is too slow, because the transfer holds memory, and if its key is no longer valid.
 *
 * The next chunk is read when the previous one has been consumed, whose memory may then be reused. Among workerd's streams,
 * IdentityTransformStream guarantees this: a write resolves when its bytes have been read.
 *
 * @param chunks the body; empty ones are skipped
 * @param requestAbort aborted when the client disconnects or a chunk fails
 */
export function streamChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  requestAbort: AbortController,
  transfer?: Transfer,
): ReadableStream<Uint8Array> {
  const { length } = transfer ?? {};
  const { readable, writable } = length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
  void pump(chunks, writable.getWriter(), requestAbort, transfer);
  return readable;
}

async function pump(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  requestAbort: AbortController,
  transfer: Transfer | undefined,
): Promise<void> {
  let hasLeft = false;
  let stopped: unknown;
  // Notices a client that disconnects between writes, while the next chunk is being read.
  writer.closed.catch((error: unknown) => {
    hasLeft = true;
    requestAbort.abort(error);
  });
  const { writeBytes, stallMs } = transfer?.pace ?? FILE_PACE;
  let writingSince: number | undefined;
  let checked = Date.now();
  const stop = (reason: unknown) => {
    stopped ??= reason;
    void writer.abort(reason).catch(() => {});
  };
  const watch = setInterval(() => {
    const now = Date.now();
    if (writingSince !== undefined && now - writingSince >= stallMs)
      stop(new StalledClientError(`the client did not take ${writeBytes} bytes within ${stallMs / 1000} s`));
    if (now - checked <= KEY_CHECK_MS - WATCH_MS) return;
    checked = now;
    transfer?.checkKey?.().catch(stop);
  }, WATCH_MS);
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += writeBytes) {
        const part = chunk.subarray(at, at + writeBytes);
        const { length } = part;
        writingSince = Date.now();
        await writer.write(part);
        writingSince = undefined;
        transfer?.sent(length);
      }
    }
    writingSince = Date.now();
    await writer.close();
    transfer?.ended('complete');
  } catch (error) {
    if (stopped) transfer?.ended('stopped', stopped);
    else transfer?.ended(hasLeft || writingSince !== undefined ? 'left' : 'failed', error);
    requestAbort.abort(error);
    await writer.abort(error).catch(() => {}); // rejects if the client has already disconnected
  } finally {
    clearInterval(watch);
  }
}
