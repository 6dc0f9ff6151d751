import { concat } from '../encode/bytes.ts';

/** A body of which the beginning has been looked at. */
type Begun =
  /** It ended before the limit. */
  | { readonly whole: Uint8Array }
  /** It goes further than that: all of its chunks, those that were looked at as well. */
  | { readonly chunks: AsyncIterable<Uint8Array> };

/**
 * Finds out whether a body is smaller than a limit, and if so reads it. Of a larger one no chunk is asked for behind the
 * one that reaches the limit.
 *
 * @param limit bytes
 */
export async function readIfSmall(chunks: AsyncGenerator<Uint8Array, void, void>, limit: number): Promise<Begun> {
  const start: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return { whole: concat(...start) };
    size += value.length;
    if (size >= limit) return { chunks: joined(start, value, chunks) };
    start.push(value.slice()); // its memory may be gone with the next chunk
  }
}

async function* joined(
  start: readonly Uint8Array[],
  next: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* start;
    yield next;
    yield* rest;
  } finally {
    await rest.return();
  }
}
