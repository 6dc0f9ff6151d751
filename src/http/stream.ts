/** Callbacks of a transfer. */
export interface TransferWatch {
  /** This many more bytes were written to the client. */
  readonly sent: (bytes: number) => void;
  /** Called once. `left`: the client disconnected; `failed`: reading a chunk failed with `error`. */
  readonly ended: (how: 'complete' | 'left' | 'failed', error?: unknown) => void;
}

/**
 * Streams chunks as they are read. If reading one fails, the transfer is aborted: the client sees neither a clean end nor error
 * text in the file.
 *
 * The next chunk is read when the previous one has been consumed, whose memory may then be reused. Among workerd's streams,
 * IdentityTransformStream guarantees this: a write resolves when its bytes have been read.
 *
 * @param chunks the body; empty ones are skipped
 * @param ending aborted when the client disconnects or a chunk fails
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
  // Notices a client that disconnects between writes, while the next chunk is being read.
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
    await writer.abort(error).catch(() => {}); // rejects if the client has already disconnected
  }
}
