/** Callbacks of a transfer. */
export interface TransferWatch {
  /** The client's side has taken this many more bytes. */
  readonly sent: (bytes: number) => void;
  /** Called once. `left`: the client has left; `failed`: reading a chunk failed with `error`. */
  readonly ended: (how: 'complete' | 'left' | 'failed', error?: unknown) => void;
}

/**
 * Streams chunks as they are read. If reading one fails, the transfer breaks: the client never sees a clean end, nor the text of
 * an error in the file.
 *
 * The next chunk is read once the client's side has taken the one before, whose memory may then be reused. Of workerd's streams,
 * IdentityTransformStream guarantees that: a write resolves when its bytes have been read.
 *
 * @param chunks the body; empty ones are skipped
 * @param ending aborted when the client has left or a chunk failed
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
  // Notices a client that leaves between writes, while the next chunk is being read.
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
    await writer.abort(error).catch(() => {}); // rejects if the client has broken it already
  }
}
