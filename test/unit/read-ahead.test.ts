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
const { rangeAfter, readAhead } = (await import(
  new URL('../../src/read/read-ahead.ts', import.meta.url).href
)) as {
  readonly rangeAfter: (page: object, range: object, pageBytes: number) => Range | undefined;
  readonly readAhead: (
    reader: object,
    slots: object,
    first: object,
    signal: AbortSignal,
  ) => AsyncIterable<{ readonly rows: number[]; readonly release: () => void }>;
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
  question_ref: '',
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
    pageBytes: PAGE_BYTES,
    batches: () => undefined,
    async page(range: Range, dropping?: AbortSignal) {
      await sleep(delay());
      if (dropping?.aborted) throw new Error('dropped');
      const rows = inRange(range, (row) => isSelected(row, isWalk));
      const last = rows.at(-1);
      const bytes = ROW_BYTES * rows.length;
      const counts = { rowCount: rows.length, requestedRows: range.limit, bytes };
      return { ...counts, rows, last: last && keyOf(last), release: () => rows.splice(0) };
    },
    async boundaries(after: { readonly userid: string }, pageRows: number, count: number) {
      await sleep(delay());
      return inRange({ after, limit: pageRows * count }, () => true)
        .filter((_, i) => (i + 1) % pageRows === 0)
        .map(keyOf);
    },
  };
}

/** Lends a slot as often as not, and takes it back after some milliseconds, unless it is returned. */
function slotsOf(isFree: () => boolean, loanMs: () => number) {
  const lent = new Set<object>();
  return {
    lent,
    borrow(onEnd: () => void) {
      if (!isFree()) return undefined;
      const loan = {};
      lent.add(loan);
      const end = () => {
        clearTimeout(timer);
        lent.delete(loan);
      };
      const timer = setTimeout(() => {
        end();
        onEnd();
      }, loanMs());
      return end;
    },
  };
}

test('pages come in order, each row once, however slow the database and the client, and whichever slots are lent', async () => {
  const delays = fc.infiniteStream(fc.constantFrom(0, 10, 200, 3000));
  const pauses = fc.infiniteStream(fc.constantFrom(0, 50, 400, 1500));
  await fc.assert(
    fc.asyncProperty(
      delays,
      pauses,
      fc.infiniteStream(fc.boolean()),
      fc.infiniteStream(fc.constantFrom(1, 100, 1000, 60_000)),
      fc.boolean(),
      fc.integer({ min: 1, max: ROWS }),
      async (delay, pause, free, loan, isWalk, leavesAfter) => {
        const next = <T>(values: Iterator<T>) => values.next().value as T;
        const reader = readerOf(() => next(delay), isWalk);
        const slots = slotsOf(
          () => next(free),
          () => next(loan),
        );
        const read: number[] = [];
        const reading = (async () => {
          const first = await reader.page({ limit: 20 });
          const { signal } = new AbortController();
          for await (const page of readAhead(reader, slots, first, signal)) {
            await sleep(next(pause));
            read.push(...page.rows);
            page.release();
            if (read.length >= leavesAfter) break;
          }
        })();
        await vi.runAllTimersAsync();
        await reading;
        const all = Array.from({ length: ROWS }, (_, i) => i + 1);
        const expected = all.filter((row) => isSelected(row, isWalk));
        expect(read).toEqual(expected.slice(0, read.length));
        expect(read.length).toBeGreaterThanOrEqual(Math.min(leavesAfter, expected.length));
        expect(slots.lent.size).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test('the page after one that fits has twice its rows at most, and no more bytes than a page should', () => {
  const limitAfter = (bytes: number) => {
    const page = { rowCount: 10, requestedRows: 10, bytes, last: keyOf(10) };
    return rangeAfter(page, {}, PAGE_BYTES)?.limit;
  };
  expect([1000, PAGE_BYTES / 1.5, 2 * PAGE_BYTES].map(limitAfter)).toEqual([20, 15, 5]);
});
