import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type ExportLease, leaseExport } from '../../src/limits/exports.ts';
import { noteJsonPage } from '../../src/limits/json-pages.ts';
import { type Hold, type RequestLease, leaseRequest, runScan } from '../../src/limits/limits.ts';

const { signal } = new AbortController();
const MIB = 1024 * 1024;

const requests: RequestLease[] = [];
afterEach(() => requests.splice(0).forEach((one) => one.end()));

async function request(account: string): Promise<RequestLease> {
  const lease = await leaseRequest(account, signal);
  requests.push(lease);
  return lease;
}

const begin = async (account: string, formatBytes?: number) => leaseExport(await request(account), signal, formatBytes);

function acquireAll(one: ExportLease, most = Infinity): Hold[] {
  const pages: Hold[] = [];
  for (let page = one.acquirePage(); page; page = one.acquirePage()) if (pages.push(page) === most) break;
  return pages;
}

test('a single export has as many pages as fit the memory, unless another request waits for it', async () => {
  const single = await begin('a');
  const [first, ...others] = acquireAll(single) as [Hold, ...Hold[]];
  expect(others.length).toBeGreaterThan(5);
  single.releasePage(first);
  const waiting = (await request('b')).hold().wait(8 * MIB, signal);
  expect(acquireAll(single)).toEqual([]);
  for (const page of others) single.releasePage(page);
  await waiting;
});

test('the accounts of several exports share four pages in equal parts, as do their exports; each export gets at least one', async () => {
  const first = await begin('a');
  const pages = acquireAll(first, 2);
  const others = [await begin('a'), await begin('b')] as const;
  expect(others.map((one) => acquireAll(one).length)).toEqual([1, 2]);
  for (const page of pages) first.releasePage(page);
  expect(acquireAll(first)).toHaveLength(1); // half of its account's two
  expect(others.map((one) => acquireAll(one).length)).toEqual([0, 0]);
});

test('an account that takes all memory leaves other accounts a place, in which an export fits', async () => {
  const greedy = await request('greedy');
  const hold = greedy.hold();
  while (hold.set(hold.bytes + MIB));
  await expect(request('greedy').then((one) => one.hold().wait(MIB, signal, 0))).rejects.toThrow('of this account');
  expect((await begin('other')).acquirePage()).toBeDefined(); // the memory that an export always has
  expect((await request('third')).hold().set(4 * MIB)).toBe(false);
  await expect((await request('third')).hold().wait(5 * MIB, signal, 0)).rejects.toThrow('The service is busy');
  hold.release();
  expect((await request('other')).hold().set(4 * MIB)).toBe(true);
});

test('a page that needs more than an export always has takes it from the memory that is left', async () => {
  const page = (await begin('a')).acquirePage() as Hold;
  const greedy = (await request('greedy')).hold();
  while (greedy.set(greedy.bytes + MIB / 4));
  expect(page.set(1.125 * MIB)).toBe(true);
  expect(page.set(5 * MIB)).toBe(false);
  greedy.release();
  expect(page.set(5 * MIB)).toBe(true);
});

test('a page leaves a file what its format takes at least', async () => {
  const wide = await begin('a', MIB / 4);
  const page = wide.acquirePage() as Hold;
  const greedy = (await request('greedy')).hold();
  while (greedy.set(greedy.bytes + MIB / 4));
  await wide.useForFormat(1000);
  while (page.set(page.bytes + MIB / 16));
  await expect(wide.useForFormat(MIB / 4)).resolves.toBeUndefined();
});

test('an account has five requests to the database at a time, two of them scans, and two and one while another requests pages of JSON', async () => {
  const lease = await request('a');
  const mostAtOnce = async (count: number, run: (query: () => Promise<void>) => Promise<void>) => {
    let running = 0;
    let most = 0;
    const query = async () => {
      most = Math.max(most, ++running);
      await setImmediate();
      running--;
    };
    await Promise.all(Array.from({ length: count }, () => run(query)));
    return most;
  };
  const queries = (query: () => Promise<void>) => lease.query(signal, query);
  const scans = (query: () => Promise<void>) => runScan(lease, signal, query);
  expect([await mostAtOnce(6, queries), await mostAtOnce(5, scans)]).toEqual([5, 2]);
  noteJsonPage('b');
  expect([await mostAtOnce(6, queries), await mostAtOnce(5, scans)]).toEqual([2, 1]);
});
