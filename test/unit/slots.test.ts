import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ACCOUNTS, KINDS, type Kind, LimitError, RequestSlots } from '../../src/limits/slots.ts';

const { signal } = new AbortController();
const ORDER = Object.keys(KINDS) as Kind[];

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  const ended = requests.splice(0).map((request) => request.end());
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(ended);
  vi.useRealTimers();
});

const requests: RequestSlots[] = [];
function requestOf(account: string): RequestSlots {
  const request = new RequestSlots(account);
  requests.push(request);
  return request;
}

/** Takes a slot if there is one at once. */
async function isTaken(request: RequestSlots, kind: Kind): Promise<boolean> {
  const leaving = new AbortController();
  const taking = request.take(kind, leaving.signal).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  leaving.abort();
  await taking;
  return request.holds(kind);
}

/** Takes as many slots as an account can have at once. */
async function takeAll(account: string, kind: Kind): Promise<RequestSlots[]> {
  const taken: RequestSlots[] = [];
  for (;;) {
    const request = requestOf(account);
    if (!(await isTaken(request, kind))) return taken;
    taken.push(request);
  }
}

test('a slot that is released goes to whoever has waited longest and can have it', async () => {
  const [first, ...others] = await takeAll('a', 'scan');
  await takeAll('b', 'scan');
  const granted: string[] = [];
  const waitAs = (account: string, name: string) =>
    requestOf(account)
      .take('scan', signal)
      .then(() => granted.push(name));
  for (const [account, name] of [
    ['b', 'b'],
    ['a', 'a, first'],
    ['a', 'a, second'],
  ] as const)
    void waitAs(account, name);
  first?.release('scan');
  await vi.advanceTimersByTimeAsync(0);
  expect(granted).toEqual(['a, first']);
  for (const other of others) other.release('scan');
  await vi.advanceTimersByTimeAsync(0);
  expect(granted).toEqual(['a, first', 'a, second']);
});

test('a request whose response has begun waits however long, however many others do', async () => {
  const [first] = await takeAll('a', 'file');
  const { waiting, waitMs } = KINDS.file;
  const refused = Array.from({ length: waiting }, () =>
    expect(requestOf('a').take('file', signal)).rejects.toThrow(LimitError),
  );
  const begun = requestOf('a');
  begun.hasBegun = true;
  const taking = begun.take('file', signal);
  await expect(requestOf('a').take('file', signal)).rejects.toThrow(LimitError);
  await vi.advanceTimersByTimeAsync(10 * waitMs);
  await Promise.all(refused);
  first?.release('file');
  await taking;
  expect(begun.holds('file')).toBe(true);
});

test('a request has one slot of each kind, in an order in which nobody can wait in a circle', async () => {
  const request = requestOf('a');
  for (const kind of [...ORDER, ...ORDER]) await request.take(kind, signal);
  request.release('scan');
  await expect(request.take('scan', signal)).rejects.toThrow('before one for walk');
  request.releaseWork();
  expect(ORDER.filter((kind) => request.holds(kind))).toEqual(['request']);
});

test('a request whose query was aborted keeps its slots two seconds more, except its own', async () => {
  const request = requestOf('a');
  for (const kind of ['request', 'large'] as const) await request.take(kind, signal);
  request.wasAborted = true;
  void request.end();
  expect(request.holds('request')).toBe(false);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(await isTaken(requestOf('b'), 'large')).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await isTaken(requestOf('b'), 'large')).toBe(true);
});

test('a file borrows what nobody needs, and whoever needs it has it at once', async () => {
  const lone = requestOf('a');
  await lone.take('file', signal);
  const ended: number[] = [];
  const borrow = (request: RequestSlots, i: number) => request.borrow(() => ended.push(i));
  const loans = Array.from({ length: 8 }, (_, i) => borrow(lone, i));
  expect(loans.map((loan) => loan !== undefined)).toEqual([...Array(7).fill(true), false]);
  loans[6]?.();

  for (let i = 1; i < ACCOUNTS + 3; i++)
    expect(await isTaken(requestOf(`account ${Math.min(i, ACCOUNTS - 1)}`), 'file')).toBe(true);
  expect(ended).toEqual([5, 4]);
  expect(borrow(lone, 8)).toBeUndefined();
  await lone.end();
  expect(ended).toEqual([5, 4]); // who ends drops what it has borrowed
  expect(await isTaken(requestOf('another'), 'file')).toBe(true);
});

test('a minute after the runtime has killed a request, others have what it held, waited for and borrowed', async () => {
  const alive = requestOf('alive');
  await alive.take('large', signal);
  const timers = vi.spyOn(globalThis, 'setInterval');
  const killed = requestOf('killed');
  const [timer] = timers.mock.results;
  await killed.take('file', signal);
  killed.borrow(() => {});
  void killed.take('large', signal).catch(() => {});
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  killed.hasBegun = true;
  const waiting = killed.take('large', signal);
  expect(await takeAll('killed', 'file')).toHaveLength(KINDS.file.most - 1);

  clearInterval(timer?.value); // it ends with its request
  await vi.advanceTimersByTimeAsync(66_000);
  expect(await isTaken(requestOf('killed'), 'file')).toBe(true);
  alive.release('large');
  expect(await Promise.race([waiting, Promise.resolve('it still waits')])).toBe('it still waits');
  expect(await isTaken(requestOf('another'), 'large')).toBe(true);
});

test('the results of a request that ends are freed, unless something may still read them', async () => {
  for (const canFree of [true, false]) {
    const request = requestOf('a');
    const free = vi.fn<() => void>();
    request.results.add(free);
    await request.end(canFree);
    expect(free).toHaveBeenCalledTimes(canFree ? 1 : 0);
  }
});

test('nobody waits while there is room, has more than the most, or holds anything after the request has ended', async () => {
  const account = fc.constantFrom(...Array.from({ length: 13 }, (_, i) => `account ${i}`));
  const step = fc.record({
    do: fc.constantFrom(
      ...Array<'begin'>(6).fill('begin'),
      ...(['release', 'release', 'leave', 'leave', 'end', 'end'] as const),
      ...(['borrow', 'abort', 'wait'] as const),
    ),
    account,
    kinds: fc.subarray(ORDER, { minLength: 1 }),
    begun: fc.boolean(),
    index: fc.nat(),
    ms: fc.nat(30_000),
  });
  interface Running {
    readonly request: RequestSlots;
    readonly leaving: AbortController;
    waitsFor: Kind | undefined;
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      const running: Running[] = [];
      const at = (i: number) => running[i % Math.max(1, running.length)];
      for (const one of steps) {
        if (one.do === 'begin') {
          const leaving = new AbortController();
          const request = requestOf(one.account);
          request.hasBegun = one.begun;
          const run: Running = { request, leaving, waitsFor: undefined };
          running.push(run);
          void (async () => {
            for (const kind of one.kinds) {
              run.waitsFor = kind;
              await request.take(kind, leaving.signal);
              run.waitsFor = undefined;
            }
          })().catch(() => {
            run.waitsFor = undefined;
          });
        } else if (one.do === 'wait') {
          await vi.advanceTimersByTimeAsync(one.ms);
        } else {
          const run = at(one.index);
          if (one.do === 'release') run?.request.releaseWork();
          if (one.do === 'leave') run?.leaving.abort();
          if (one.do === 'end') {
            run?.leaving.abort();
            void run?.request.end();
            void run?.request.take('large', signal).catch(() => {});
            running.splice(running.indexOf(run as Running), running.length > 0 ? 1 : 0);
          }
          if (one.do === 'borrow' && run?.request.holds('file')) run.request.borrow(() => {});
          if (one.do === 'abort' && run) run.request.wasAborted = true;
        }
        await vi.advanceTimersByTimeAsync(0);

        for (const kind of ORDER) {
          const { own, shared, most } = KINDS[kind];
          const holders = running.filter(({ request }) => request.holds(kind));
          const counts = Map.groupBy(holders, ({ request }) => request.account);
          for (const { length } of counts.values()) expect(length).toBeLessThanOrEqual(most);
          expect(holders.length).toBeLessThanOrEqual(ACCOUNTS * own + shared);
        }
        // Whoever waits has no room: nobody else of the account could have it either.
        for (const { request, waitsFor } of running) {
          if (waitsFor === undefined) continue;
          const probe = new RequestSlots(request.account);
          expect([waitsFor, await isTaken(probe, waitsFor)]).toEqual([waitsFor, false]);
          await probe.end();
        }
      }

      for (const { request, leaving } of running) {
        leaving.abort();
        void request.end();
      }
      await vi.advanceTimersByTimeAsync(2_000);
      for (const kind of ORDER) {
        const { own, shared, most } = KINDS[kind];
        const free = await takeAll('afterwards', kind);
        expect(free).toHaveLength(Math.min(most, own + shared));
        for (const request of free) await request.end();
      }
      for (const request of requests.splice(0)) void request.end();
    }),
    { numRuns: 50 },
  );
});
