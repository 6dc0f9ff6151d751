import { afterEach, expect, test } from 'vitest';
import {
  EXPORT_PAGE_BYTES,
  type ExportLease,
  type Hold,
  type RequestLease,
  leaseExport,
  leaseRequest,
} from '../../src/limits/limits.ts';

const { signal } = new AbortController();
const MIB = 1024 * 1024;

const requests: RequestLease[] = [];
afterEach(() => requests.splice(0).forEach((one) => one.end()));

async function request(account: string): Promise<RequestLease> {
  const lease = await leaseRequest(account, signal);
  requests.push(lease);
  return lease;
}

const begin = async (account: string) => leaseExport(await request(account), signal);

function acquireAll(one: ExportLease): Hold[] {
  const pages: Hold[] = [];
  for (let page = one.acquirePage(); page; page = one.acquirePage()) pages.push(page);
  return pages;
}

test('accounts share four pages in equal parts, as do their exports; each export gets at least one', async () => {
  const first = await begin('a');
  expect(acquireAll(first)).toHaveLength(4);
  const others = [await begin('a'), await begin('b')] as const;
  expect(others.map((one) => acquireAll(one).length)).toEqual([1, 2]);
  for (let i = 0; i < 4; i++) first.releasePage();
  expect(acquireAll(first)).toHaveLength(1); // half of its account's two
  expect(others.map((one) => acquireAll(one).length)).toEqual([0, 0]);
});

test('an account that takes all memory leaves other accounts a place, in which an export fits', async () => {
  const greedy = await request('greedy');
  const hold = greedy.hold();
  while (hold.set(hold.bytes + MIB));
  await expect(request('greedy').then((one) => one.hold().wait(MIB, signal, 0))).rejects.toThrow('of this account');
  expect((await begin('other')).acquirePage()).toBeDefined(); // the memory that an export always has
  expect((await request('other')).hold().set(4 * MIB)).toBe(false);
  await expect((await request('third')).hold().wait(5 * MIB, signal, 0)).rejects.toThrow('The service is busy');
  hold.release();
  expect((await request('other')).hold().set(4 * MIB)).toBe(true);
});

test('a page that needs more than an export always has takes it from the memory that is left', async () => {
  const page = (await begin('a')).acquirePage() as Hold;
  const greedy = (await request('greedy')).hold();
  while (greedy.set(greedy.bytes + MIB / 4));
  expect(page.set(EXPORT_PAGE_BYTES / 4)).toBe(true);
  expect(page.set(5 * MIB)).toBe(false);
  greedy.release();
  expect(page.set(5 * MIB)).toBe(true);
});
