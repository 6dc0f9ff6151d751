import { afterEach, expect, test } from 'vitest';
import { EXPORT_PAGE_BYTES, ExportLease } from '../../src/read/limits.ts';

const leases: ExportLease[] = [];
afterEach(() => leases.splice(0).forEach((one) => one.end()));

function lease(key: string): ExportLease {
  const added = new ExportLease(key);
  leases.push(added);
  return added;
}

const acquireAll = (one: ExportLease) => {
  let pages = 0;
  while (one.acquirePage()) pages++;
  return pages;
};

test('keys share four pages in equal parts, as do their exports; each export gets at least one', () => {
  const first = lease('a');
  expect(acquireAll(first)).toBe(4);
  const others = [lease('a'), lease('b')] as const;
  expect(others.map(acquireAll)).toEqual([1, 1]);
  for (let i = 0; i < 4; i++) first.releasePage();
  expect(acquireAll(first)).toBe(1); // half of its key's two
  expect(others.map(acquireAll)).toEqual([0, 1]);
});

test('a format gets more than 4 MiB only while there is room', () => {
  const all = Array.from({ length: 12 }, (_, i) => lease(`${i}`));
  for (const one of all) expect(one.acquirePage()).toBe(true);
  const [first, second] = all as [ExportLease, ExportLease];
  expect(first.reserveMemory(4 * EXPORT_PAGE_BYTES)).toBe(true); // with twelve pages, all sixteen
  expect(second.reserveMemory(4 * 1024 * 1024)).toBe(true);
  expect(second.reserveMemory(2 * EXPORT_PAGE_BYTES)).toBe(false);
  first.reserveMemory(0);
  expect(second.reserveMemory(2 * EXPORT_PAGE_BYTES)).toBe(true);
});
