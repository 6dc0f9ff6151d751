import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lease } from '../../src/limits/lease.ts';
import { Shares } from '../../src/limits/shares.ts';

const { signal } = new AbortController();
const WAIT_MS = 5_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  leases.splice(0).forEach((lease) => lease.end());
  vi.useRealTimers();
});

const leases: Lease[] = [];
function leaseOf(account: string): Lease {
  const lease = new Lease(account);
  leases.push(lease);
  return lease;
}

/** Places of 2. */
const shares = (common: number, most?: number) =>
  new Shares({ place: 2, common, waiting: 4, ...(most === undefined ? {} : { most: () => most }) });

/** Takes a share in a request of its own. @returns undefined if there is none */
function take(of: Shares, account: string, amount = 1): Lease | undefined {
  const lease = leaseOf(account);
  return lease.take(of, amount) ? lease : undefined;
}

const wait = (of: Shares, account: string, amount = 1, until = signal) =>
  leaseOf(account).acquire(of, amount, WAIT_MS, until);

test('ten accounts have a place each that no other can take, and further accounts have the common part', () => {
  const all = shares(3);
  expect(take(all, 'greedy', 5)).toBeDefined();
  expect(take(all, 'greedy')).toBeUndefined();
  for (let i = 1; i < 10; i++) expect(take(all, `account ${i}`, 2)).toBeDefined();
  expect(take(all, 'account 1')).toBeUndefined();
  expect(take(all, 'account 10')).toBeUndefined();

  const others = shares(1);
  for (let i = 0; i < 10; i++) expect(take(others, `account ${i}`)).toBeDefined();
  expect(take(others, 'account 10')).toBeDefined(); // the common part
  expect(take(others, 'account 11')).toBeUndefined();
  expect(take(others, 'account 0')).toBeDefined(); // its place
});

test('a request that has ended gets nothing that it was waiting for', async () => {
  const all = shares(0);
  const first = take(all, 'a', 2);
  const ended = leaseOf('a');
  const granted = vi.fn<(isGranted: boolean) => void>();
  void ended.acquire(all, 2, WAIT_MS, signal).then(granted);
  const next = wait(all, 'a', 2);
  ended.end();
  first?.end();
  expect(await next).toBe(true);
  expect(granted).not.toHaveBeenCalled();
});

test('an account has at most as much as it can have, whatever is free', () => {
  const all = shares(10, 3);
  expect(take(all, 'a', 3)).toBeDefined();
  expect(take(all, 'a')).toBeUndefined();
  expect(all.heldBy('a')).toBe(3);
});

test('the places of accounts that hold nothing can be lent, and each has its place at once when it comes', () => {
  const all = new Shares({ place: 2, common: 3, lendsPlaces: true, waiting: 4 });
  expect(take(all, 'a', 24)).toBeUndefined();
  const first = take(all, 'a', 23);
  for (let i = 1; i < 10; i++) {
    expect(all.roomFor(`account ${i}`)).toBe(2);
    take(all, `account ${i}`, 2);
  }
  first?.release(all, 18);
  expect(['a', 'account 1', 'another'].map((account) => all.roomFor(account))).toEqual([0, 0, 0]);
  first?.release(all, 1);
  expect(['a', 'account 1', 'another'].map((account) => all.roomFor(account))).toEqual([1, 1, 1]);
});

test('what is held without room for it takes nothing from the places of others', () => {
  const all = shares(1);
  leaseOf('a').count(all, 100);
  expect(take(all, 'b', 2)).toBeDefined();
  expect(take(all, 'b')).toBeUndefined();
  expect(take(all, 'a')).toBeUndefined();
});

test('what a request releases goes to whoever has waited longest for it', async () => {
  const all = shares(0);
  const first = take(all, 'a', 2);
  take(all, 'b', 2);
  const granted: string[] = [];
  const waitAs = async (name: string, account: string, amount: number) => {
    if (await wait(all, account, amount)) granted.push(name);
  };
  const waiting = [waitAs('b', 'b', 1), waitAs('a, large', 'a', 2), waitAs('a, small', 'a', 1)];
  first?.end();
  first?.end(); // once is enough
  await vi.advanceTimersByTimeAsync(0);
  expect(granted).toEqual(['a, large']);
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  await Promise.all(waiting);
  expect(granted).toEqual(['a, large']);
});

test('four requests of an account wait, and a fifth does not', async () => {
  const all = shares(0);
  take(all, 'a', 2);
  const ends: string[] = [];
  for (let i = 0; i < 5; i++) void wait(all, 'a').then(() => ends.push(`a ${i}`));
  void wait(all, 'b', 3).then(() => ends.push('b'));
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
  expect(ends).toEqual(['a 4']);
  await vi.advanceTimersByTimeAsync(1);
  expect(ends).toHaveLength(6);
});

test('a request whose response has begun waits, however many others of its account do', async () => {
  const all = shares(0);
  const first = take(all, 'a', 2);
  for (let i = 0; i < 5; i++) void wait(all, 'a', 2);
  const begun = leaseOf('a');
  begun.hasBegun = true;
  const waiting = begun.acquire(all, 1, WAIT_MS, signal);
  for (const lease of leases) if (lease !== begun && lease !== first) lease.end();
  first?.end();
  expect(await waiting).toBe(true);
});

test('a request that is aborted while it waits holds nothing', async () => {
  const all = shares(0);
  const lease = take(all, 'a', 2);
  const client = new AbortController();
  const waiting = wait(all, 'a', 2, client.signal);
  lease?.end();
  client.abort(new Error('left')); // after the share was granted, before it was taken
  await expect(waiting).rejects.toThrow('left');
  expect(all.heldBy('a')).toBe(0);
});

test('a request that is aborted while it waits is granted nothing, even if it never goes on', () => {
  const all = shares(0);
  const lease = take(all, 'a', 2);
  const client = new AbortController();
  wait(all, 'a', 2, client.signal).catch(() => {});
  client.abort(new Error('left'));
  lease?.end();
  expect(all.heldBy('a')).toBe(0);
});

test('a lease lives while its request renews it, and ends a minute after the runtime has killed the request', async () => {
  const all = shares(0);
  take(all, 'alive', 2);
  const timers = vi.spyOn(globalThis, 'setInterval');
  take(all, 'killed', 2);
  const [timer] = timers.mock.results;
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(take(all, 'alive')).toBeUndefined();
  expect(take(all, 'killed')).toBeUndefined();
  clearInterval(timer?.value); // it ends with its request
  await vi.advanceTimersByTimeAsync(61_000);
  expect(take(all, 'killed')).toBeDefined();
  expect(take(all, 'alive')).toBeUndefined();
});
