/**
 * A response body out of chunks that are still being read. It breaks off where one cannot be had, so that the client
 * sees a broken transfer: never a clean end, never an error's text in the file.
 *
 * @param chunks the body; pulled one at a time, as the client reads
 * @param ending aborted as soon as nothing more is wanted: the client has gone, or a chunk failed
 */
export function streamChunks(
  chunks: AsyncIterator<Uint8Array, void, void>,
  ending: AbortController,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value: chunk } = await chunks.next();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      } catch (error) {
        ending.abort(error);
        controller.error(error);
      }
    },
    cancel(reason) {
      ending.abort(reason);
    },
  });
}
