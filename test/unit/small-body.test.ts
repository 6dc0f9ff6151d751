import { expect, test } from 'vitest';
import { readIfSmall } from '../../src/http/small-body.ts';

/** Chunks of so many bytes, which may be used again once the next is asked for; and whether it was let go of. */
function source(...sizes: number[]) {
  const state = { asked: 0, closed: false };
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (const size of sizes) {
        const chunk = new Uint8Array(size).fill(++state.asked);
        yield chunk;
        chunk.fill(0);
      }
    } finally {
      state.closed = true;
    }
  }
  return { chunks: chunks(), state };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<number[]> {
  const bytes: number[] = [];
  for await (const chunk of chunks) bytes.push(...chunk);
  return bytes;
}

test('a body below the limit is read whole', async () => {
  const { chunks, state } = source(1, 2, 0, 1);
  expect(await readIfSmall(chunks, 5)).toEqual({ whole: new Uint8Array([1, 2, 2, 4]) });
  expect(state.closed).toBe(true);
});

test('of a larger body no more is asked for than what shows that, and all of it comes', async () => {
  const { chunks, state } = source(1, 2, 3, 1);
  const begun = await readIfSmall(chunks, 5);
  expect(state).toEqual({ asked: 3, closed: false });
  expect('chunks' in begun && (await bytesOf(begun.chunks))).toEqual([1, 2, 2, 3, 3, 3, 4]);
  expect(state.closed).toBe(true);
});

test('a larger body lets go of its source when its reader leaves, wherever that is', async () => {
  for (const after of [1, 2, 3, 4]) {
    const { chunks, state } = source(1, 2, 3, 1);
    const begun = await readIfSmall(chunks, 5);
    if (!('chunks' in begun)) throw new Error('taken for small');
    let taken = 0;
    for await (const _ of begun.chunks) if (++taken === after) break;
    expect({ after, ...state }).toMatchObject({ after, closed: true });
  }
});
