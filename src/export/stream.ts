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
export function streamChunks(chunks: AsyncIterable<Uint8Array>, ending: AbortController): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  void pump(chunks, writable.getWriter(), ending);
  return readable;
}

async function pump(
  chunks: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  ending: AbortController,
): Promise<void> {
  // A client that goes is noticed by the next write; when that is waiting for a page, only by this.
  writer.closed.catch((error: unknown) => ending.abort(error));
  try {
    for await (const chunk of chunks) if (chunk.length > 0) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    ending.abort(error);
    await writer.abort(error).catch(() => {}); // it may be broken already: by a client that has gone
  }
}
