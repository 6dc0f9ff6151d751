import { StalledClientError } from './errors.ts';

/** A client that takes nothing for so long is disconnected; milliseconds. */
const STALL_MS = 5 * 60_000;
const STALL_CHECK_MS = 5_000;
/**
 * How many bytes are written at a time. A client has to take them in {@link STALL_MS}: 7.7 KiB a second. Each write leaves garbage
 * outside V8's heap, so smaller ones would take more memory.
 */
const WRITE_BYTES = 2.25 * 1024 * 1024;

/** Options and callbacks of a transfer. */
export interface Transfer {
  /** The number of bytes of the body, if known: the response gets a `Content-Length`. */
  readonly length?: number | undefined;
  /** This many more bytes were written to the client. */
  readonly sent: (bytes: number) => void;
  /** Called once. `left`: the client disconnected; `failed`: reading a chunk failed with `error`, or the client stalled. */
  readonly ended: (how: 'complete' | 'left' | 'failed', error?: unknown) => void;
}

/**
 * Streams chunks as they are read. If reading one fails, the transfer is aborted: the client sees neither a clean end nor error
 * text in the file. So it is if the client takes nothing for 5 minutes, because the transfer holds memory.
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
  let stalled: StalledClientError | undefined;
  // Notices a client that disconnects between writes, while the next chunk is being read.
  writer.closed.catch((error: unknown) => {
    hasLeft = true;
    requestAbort.abort(error);
  });
  let writingSince: number | undefined;
  const watchdog = setInterval(() => {
    if (writingSince === undefined || Date.now() - writingSince < STALL_MS) return;
    stalled = new StalledClientError('the client took nothing for 5 minutes');
    void writer.abort(stalled).catch(() => {});
  }, STALL_CHECK_MS);
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += WRITE_BYTES) {
        const part = chunk.subarray(at, at + WRITE_BYTES);
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
    if (stalled) transfer?.ended('failed', stalled);
    else transfer?.ended(hasLeft || writingSince !== undefined ? 'left' : 'failed', error);
    requestAbort.abort(error);
    await writer.abort(error).catch(() => {}); // rejects if the client has already disconnected
  } finally {
    clearInterval(watchdog);
  }
}
