import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Allowance } from '../../src/auth/allowance.ts';
import type { Verdict } from '../../src/auth/verdicts.ts';
import { type Leader, LookUps } from '../../src/auth/look-ups.ts';
import type { Database, Query, Row } from '../../src/db/client.ts';

/*
 * What takes long, or needs a request that dies in the middle, which nothing in workerd can be made to do on purpose: so
 * the clock and the database are played here. What can be had for real is in test/auth/.
 */

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-03-01T00:00:00Z') }));
afterEach(() => vi.useRealTimers());

/** A database that answers as it is told; every query's hashes are recorded. */
function leaderOn(rows: (hashes: string[]) => Promise<Row[]>): { leader: Leader; queries: string[][] } {
  const queries: string[][] = [];
  const db = {
    rows: ({ params }: Query) => {
      const hashes = params[0] as string[];
      queries.push(hashes);
      return rows(hashes);
    },
  } as Partial<Database> as Database;
  return { leader: { db, requestId: 'r', defer: () => {}, decided: () => {} }, queries };
}

const known = async (hashes: string[]): Promise<Row[]> =>
  hashes.map((hash) => [hash, `id of ${hash}`, 'account', 'a@example.org', null, null]);
const unknown = async (): Promise<Row[]> => [];
const never = () => new Promise<Row[]>(() => {});

test('five hundred hashes go into a query, the rest into the next', async () => {
  const { leader, queries } = leaderOn(known);
  const lookUps = new LookUps();
  const answers = await Promise.all(Array.from({ length: 1201 }, (_, i) => lookUps.ask(`h${i}`, leader)));
  expect(answers.map(({ key }: Verdict) => key?.keyId)).toEqual(Array.from({ length: 1201 }, (_, i) => `id of h${i}`));
  expect(queries.map(({ length }) => length)).toEqual([500, 500, 201]);
});

describe('queries that meet an unknown key', () => {
  test('are paced, and those that do not are not', async () => {
    const { leader, queries } = leaderOn(unknown);
    const lookUps = new LookUps(new Allowance(3, 1000));
    for (const hash of ['a', 'b', 'c']) await lookUps.ask(hash, leader);
    expect(lookUps.isPaced).toBe(true);
    const waiting = Promise.all(['d', 'e', 'f'].map((hash) => lookUps.ask(hash, leader)));
    await vi.advanceTimersByTimeAsync(999);
    expect(queries).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(queries.slice(3)).toEqual([['d', 'e', 'f']]);

    const genuine = leaderOn(known);
    const others = new LookUps(new Allowance(3, 1000));
    for (let i = 0; i < 30; i++) await others.ask(`h${i}`, genuine.leader);
    expect(genuine.queries).toHaveLength(30);
  });

  test('let a bounded number wait', async () => {
    const { leader } = leaderOn(never);
    const lookUps = new LookUps(new Allowance(3, 1000));
    for (let i = 0; i < 2000; i++) void lookUps.ask(`h${i}`, leader).catch(() => {});
    expect(lookUps.isFull).toBe(true);
  });
});

describe('when the request that asks for all is cut off', () => {
  test('another one asks, thirty seconds after that began, however late who waits has come', async () => {
    const lookUps = new LookUps();
    const answers = [never()];
    const { leader, queries } = leaderOn((hashes) => answers.pop() ?? known(hashes));
    const first = lookUps.ask('a', leader);
    await vi.advanceTimersByTimeAsync(20_000);
    const second = lookUps.ask('b', leader);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(queries).toEqual([['a']]);
    await vi.advanceTimersByTimeAsync(1);
    expect([(await first).key?.keyId, (await second).key?.keyId]).toEqual(['id of a', 'id of b']);
    expect(queries).toEqual([['a'], ['a', 'b']]);
  });

  test('and comes back after all, nobody who has asked since is forgotten', async () => {
    const lookUps = new LookUps(new Allowance(1, 1000));
    const late = Promise.withResolvers<Row[]>();
    const answers = [late.promise];
    const { leader, queries } = leaderOn(() => answers.pop() ?? unknown());
    void lookUps.ask('a', leader);
    await vi.advanceTimersByTimeAsync(30_000); // asked again, which uses up the allowance
    const again = lookUps.ask('a', leader);
    await vi.advanceTimersByTimeAsync(500);
    late.resolve([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await again).key).toBeUndefined();
    expect(queries).toEqual([['a'], ['a'], ['a']]);
  });
});

test('a failure is that of all who waited, and is over with the next answer', async () => {
  const lookUps = new LookUps();
  const failing = leaderOn(() => Promise.reject(new Error('down')));
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const outcomes = await Promise.allSettled([lookUps.ask('a', failing.leader), lookUps.ask('a', failing.leader)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([lookUps.isFailing, lookUps.isDue]).toEqual([true, false]);
  vi.advanceTimersByTime(5_000);
  expect([lookUps.isFailing, lookUps.isDue]).toEqual([true, true]);
  await lookUps.ask('a', leaderOn(known).leader);
  expect([lookUps.isFailing, lookUps.isDue]).toEqual([false, false]);
});
