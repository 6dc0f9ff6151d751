import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lease, type Reservation } from '../../src/limits/lease.ts';
import { type Division, LimitError, Quota } from '../../src/limits/quota.ts';

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

/** Reserves 2 for each account. */
const quota = (shared: number, more: Partial<Division> = {}) =>
  new Quota('memory', { reserved: 2, shared, waiting: 4, waitMs: WAIT_MS, ...more });

/** Takes something in a request of its own. @returns undefined if there is no room */
function take(of: Quota, account: string, amount = 1): Reservation | undefined {
  const reservation = leaseOf(account).reserve(of);
  return reservation.resize(amount) ? reservation : undefined;
}

const wait = (of: Quota, account: string, amount = 1, until = signal) =>
  leaseOf(account).acquire(of, amount, until);

test('what is reserved for accounts that hold nothing can be lent, and each has it at once when it comes', () => {
  const all = quota(3, { lends: true });
  expect(take(all, 'a', 24)).toBeUndefined();
  const first = take(all, 'a', 23);
  for (let i = 1; i < 10; i++) {
    expect(all.roomFor(`account ${i}`)).toBe(2);
    take(all, `account ${i}`, 2);
  }
  first?.resize(5);
  expect(['a', 'account 1', 'another'].map((account) => all.roomFor(account))).toEqual([0, 0, 0]);
  first?.resize(4);
  expect(['a', 'account 1', 'another'].map((account) => all.roomFor(account))).toEqual([1, 1, 1]);
});

test('what a request releases goes to whoever has waited longest for it', async () => {
  const all = quota(0);
  const first = take(all, 'a', 2);
  take(all, 'b', 2);
  const granted: string[] = [];
  const waitAs = (name: string, account: string, amount: number) =>
    wait(all, account, amount).then(
      () => granted.push(name),
      () => {},
    );
  const waiting = [waitAs('b', 'b', 1), waitAs('a, large', 'a', 2), waitAs('a, small', 'a', 1)];
  first?.release();
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  await Promise.all(waiting);
  expect(granted).toEqual(['a, large']);
});

test('a request whose response has begun waits, however many others of its account do, and longer', async () => {
  const all = quota(0, { begunWaitMs: 2 * WAIT_MS });
  const first = take(all, 'a', 2);
  const refused = [1, 2, 3, 4].map(() => expect(wait(all, 'a', 2)).rejects.toThrow(LimitError));
  const begun = leaseOf('a');
  begun.hasBegun = true;
  const waiting = begun.acquire(all, 1, signal);
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  await Promise.all(refused);
  first?.release();
  expect((await waiting).amount).toBe(1);
});

test('what a request keeps is for all that it holds together, and what one part of it releases another one can have at once', async () => {
  const all = quota(0);
  const lease = leaseOf('a');
  await lease.keep(all, 2, signal);
  const [first, second] = [lease.reserve(all), lease.reserve(all)];
  expect([first.resize(2), second.resize(1)]).toEqual([true, false]);
  expect(take(all, 'a')).toBeUndefined();
  const waiting = second.acquire(1, signal);
  first.resize(1);
  await waiting;
  first.release();
  second.release();
  expect(all.heldBy('a')).toBe(2);
  lease.end();
  // what an ended request still does is not counted
  expect([first.resize(5), all.heldBy('a')]).toEqual([true, 0]);
});

test('a request that ends frees the memory of what it still holds, unless something may read it', async () => {
  const all = quota(10);
  const frees = [true, false].map((canFree) => {
    const lease = leaseOf('a');
    const [sent, held] = [lease.reserve(all), lease.reserve(all)];
    const free = vi.fn<() => void>();
    for (const one of [sent, held]) {
      one.resize(1);
      one.free = free;
    }
    sent.release();
    lease.end(canFree);
    return free.mock.calls.length;
  });
  expect(frees).toEqual([1, 0]);
});

test('a request ends a minute after the runtime has killed it, and until then renews what it holds', async () => {
  const all = quota(0);
  take(all, 'alive', 2);
  const timers = vi.spyOn(globalThis, 'setInterval');
  take(all, 'killed', 2);
  const [timer] = timers.mock.results;
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(take(all, 'killed')).toBeUndefined();
  clearInterval(timer?.value); // it ends with its request
  await vi.advanceTimersByTimeAsync(61_000);
  const waiting = wait(all, 'killed');
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
  expect((await waiting).amount).toBe(1);
  expect(take(all, 'alive')).toBeUndefined();
});

test('nobody waits while there is room, has more than the most, or holds anything after the request has ended', async () => {
  const account = fc.constantFrom(...Array.from({ length: 13 }, (_, i) => `account ${i}`));
  const amount = fc.integer({ min: 0, max: 5 });
  const index = fc.nat();
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('acquire' as const),
        account,
        amount,
        begun: fc.boolean(),
      }),
    },
    fc.record({ do: fc.constant('resize' as const), index, amount }),
    fc.record({ do: fc.constantFrom('release', 'end', 'abort', 'kill'), index }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 70_000 }) }),
  );
  const division = fc.record({
    reserved: fc.integer({ min: 0, max: 3 }),
    shared: fc.integer({ min: 0, max: 6 }),
    most: fc.constantFrom(3, 5, Infinity),
    lends: fc.boolean(),
    waiting: fc.constantFrom(1, 4, Infinity),
  });
  const timers = vi.spyOn(globalThis, 'setInterval');
  await fc.assert(
    fc.asyncProperty(division, fc.array(step, { maxLength: 60 }), async (divided, steps) => {
      const all = new Quota('scans', { ...divided, waitMs: WAIT_MS, begunWaitMs: 3 * WAIT_MS });
      const begin = (name: string, waitsFor: number, hasBegun: boolean) => {
        const lease = Object.assign(leaseOf(name), { hasBegun });
        const [client, reservation] = [new AbortController(), lease.reserve(all)];
        const timer = timers.mock.results.at(-1)?.value;
        const request = { lease, client, reservation, timer, waitsFor };
        const settled = () => void (request.waitsFor = 0);
        reservation.acquire(waitsFor, client.signal).then(settled, settled);
        return request;
      };
      const requests: ReturnType<typeof begin>[] = [];
      leaseOf('observer'); // ends those that were killed
      for (const one of steps) {
        if (one.do === 'acquire') {
          requests.push(begin(one.account, one.amount, one.begun));
        } else if (one.do === 'pass') {
          await vi.advanceTimersByTimeAsync(one.ms);
        } else {
          const request = requests[one.index % requests.length];
          if (request?.waitsFor === 0 && one.do === 'resize')
            request.reservation.resize(one.amount);
          if (request?.waitsFor === 0 && one.do === 'release') request.reservation.release();
          if (one.do === 'end') request?.lease.end();
          if (one.do === 'abort') request?.client.abort(new Error('left'));
          if (one.do === 'kill') clearInterval(request?.timer);
        }
        await vi.advanceTimersByTimeAsync(0);
        const alive = requests.filter(({ lease }) => !lease.hasEnded);
        const couldHave = alive.filter(
          ({ lease, reservation, waitsFor }) =>
            waitsFor > 0 && all.roomFor(lease.account) >= waitsFor - reservation.amount,
        );
        expect(couldHave).toEqual([]);
        const held = Map.groupBy(alive, ({ lease }) => lease.account);
        for (let i = 0; i < 13; i++) {
          const amounts =
            held.get(`account ${i}`)?.map(({ reservation }) => reservation.amount) ?? [];
          expect(all.heldBy(`account ${i}`)).toBe(amounts.reduce((sum, own) => sum + own, 0));
          expect(all.heldBy(`account ${i}`)).toBeLessThanOrEqual(divided.most);
        }
      }
      leases.splice(0).forEach((lease) => lease.end());
      expect(all.held.size).toBe(0);
    }),
    { numRuns: 200 },
  );
});
