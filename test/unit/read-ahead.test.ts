import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

interface Range {
  readonly after?: { readonly userid: string };
  readonly upTo?: { readonly userid: string };
  readonly limit: number;
}

/**
 * The module. Its imports have the types of the Workers runtime, so it cannot be imported with
 * them.
 */
const { readAhead } = (await import(
  new URL('../../src/read/read-ahead.ts', import.meta.url).href
)) as {
  readonly readAhead: (
    reader: object,
    lease: object,
    first: object,
  ) => AsyncIterable<{ readonly rows: number[] }>;
};

const ROWS = 600;
const ROW_BYTES = 128 * 1024;
const PAGE_BYTES = 3 * 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** That of `node:timers/promises` does not follow the faked clock. */
const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

const keyOf = (row: number) => ({
  timestamp: '',
  userid: String(row),
  questionRef: '',
  surveyid: '',
});
const rowOf = (key: Range['after']) => Number(key?.userid ?? 0);

/** Whether the filters select a row: all rows, unless no index holds the filters. */
const isSelected = (row: number, isWalk: boolean) => !isWalk || row % 7 < 2;

/**
 * Reads rows numbered from 1, as a database does whose next response takes so many milliseconds.
 */
function readerOf(delay: () => number, isWalk: boolean) {
  const inRange = ({ after, upTo, limit }: Range, isIncluded: (row: number) => boolean) => {
    const from = rowOf(after) + 1;
    const to = upTo ? rowOf(upTo) : ROWS;
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
      .filter(isIncluded)
      .slice(0, limit);
  };
  return {
    isWalk,
    async page(range: Range) {
      await sleep(delay());
      const rows = inRange(range, (row) => isSelected(row, isWalk));
      const last = rows.at(-1);
      const bytes = ROW_BYTES * rows.length;
      const counts = { rowCount: rows.length, requestedRows: range.limit, bytes };
      return { ...counts, rows, last: last && keyOf(last), release: () => {} };
    },
    async boundaries(range: Range, pageRows: number) {
      await sleep(delay());
      return inRange(range, () => true)
        .filter((_, i) => (i + 1) % pageRows === 0)
        .map(keyOf);
    },
  };
}

/** Has memory for further pages as often as not. */
function leaseOf(hasMemory: () => boolean) {
  const held = new Set<object>();
  return {
    pageBytes: PAGE_BYTES,
    acquirePage() {
      if (held.size > 0 && !hasMemory()) return undefined;
      const page = {};
      held.add(page);
      return page;
    },
    releasePage: (page: object) => void held.delete(page),
  };
}

test('pages come in order, each row once, however slow the database and the client, and whatever memory there is', async () => {
  const delays = fc.infiniteStream(fc.constantFrom(0, 10, 200, 3000));
  const pauses = fc.infiniteStream(fc.constantFrom(0, 50, 400, 1500));
  await fc.assert(
    fc.asyncProperty(
      delays,
      pauses,
      fc.infiniteStream(fc.boolean()),
      fc.boolean(),
      async (delay, pause, memory, isWalk) => {
        const next = <T>(values: Iterator<T>) => values.next().value as T;
        const reader = readerOf(() => next(delay), isWalk);
        const lease = leaseOf(() => next(memory));
        const read: number[] = [];
        const reading = (async () => {
          const first = await reader.page({ limit: 20 });
          for await (const { rows } of readAhead(reader, lease, first)) {
            await sleep(next(pause));
            read.push(...rows);
          }
        })();
        await vi.runAllTimersAsync();
        await reading;
        expect(read).toEqual(
          Array.from({ length: ROWS }, (_, i) => i + 1).filter((row) => isSelected(row, isWalk)),
        );
      },
    ),
    { numRuns: 1000 },
  );
});
