/** Is told of a transfer as it goes. */
export interface TransferWatch {
  /** So many bytes more have been taken by the client's side. */
  readonly sent: (bytes: number) => void;
  /** Comes once. `left`: the client has gone; `failed`: a chunk could not be had, because of `error`. */
  readonly ended: (how: 'complete' | 'left' | 'failed', error?: unknown) => void;
}

/**
 * A response body out of chunks that are still being read. It breaks off where one cannot be had, so that the client
 * sees a broken transfer: never a clean end, never an error's text in the file.
 *
 * A chunk is asked for when the one before has been taken by the client's side, and no sooner: then its memory is free.
 * (Of workerd's streams, IdentityTransformStream promises that: a write is done when its bytes have been read.)
 *
 * @param chunks the body; empty ones are left out
 * @param ending aborted as soon as nothing more is wanted: the client has gone, or a chunk failed
 */
export function streamChunks(
  chunks: AsyncIterable<Uint8Array>,
  ending: AbortController,
  watch?: TransferWatch,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  void pump(chunks, writable.getWriter(), ending, watch);
  return readable;
}

async function pump(
  chunks: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  ending: AbortController,
  watch: TransferWatch | undefined,
): Promise<void> {
  let hasLeft = false;
  // A client that goes is noticed by the next write; when that is waiting for a page, only by this.
  writer.closed.catch((error: unknown) => {
    hasLeft = true;
    ending.abort(error);
  });
  let isWriting = false;
  try {
    for await (const chunk of chunks) {
      const { length } = chunk;
      if (length === 0) continue;
      isWriting = true;
      await writer.write(chunk);
      isWriting = false;
      watch?.sent(length);
    }
    isWriting = true;
    await writer.close();
    watch?.ended('complete');
  } catch (error) {
    watch?.ended(hasLeft || isWriting ? 'left' : 'failed', error);
    ending.abort(error);
    await writer.abort(error).catch(() => {}); // it may be broken already: by a client that has gone
  }
}
