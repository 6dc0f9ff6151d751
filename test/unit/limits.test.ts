import { afterEach, expect, test } from 'vitest';
import { EXPORT_PAGE_BYTES, ExportLease } from '../../src/export/limits.ts';

const leases: ExportLease[] = [];
afterEach(() => leases.splice(0).forEach((one) => one.end()));

function lease(key: string): ExportLease {
  const added = new ExportLease(key);
  leases.push(added);
  return added;
}

const takeAll = (one: ExportLease) => {
  let pages = 0;
  while (one.takePage()) pages++;
  return pages;
};

test('keys share six pages in equal parts, as do their exports; each export gets at least one', () => {
  const first = lease('a');
  expect(takeAll(first)).toBe(6);
  const others = [lease('a'), lease('b')] as const;
  expect(others.map(takeAll)).toEqual([1, 1]);
  for (let i = 0; i < 6; i++) first.givePage();
  expect(takeAll(first)).toBe(1); // half of its key's three, rounded down
  expect(others.map(takeAll)).toEqual([0, 2]);
});

test('a format gets more than the memory of a page only while there is room', () => {
  const all = Array.from({ length: 12 }, (_, i) => lease(`${i}`));
  for (const one of all) expect(one.takePage()).toBe(true);
  const [first, second] = all as [ExportLease, ExportLease];
  expect(first.holdForFormat(4 * EXPORT_PAGE_BYTES)).toBe(true); // of seventeen
  expect(second.holdForFormat(EXPORT_PAGE_BYTES)).toBe(true);
  expect(second.holdForFormat(2 * EXPORT_PAGE_BYTES)).toBe(false);
  first.holdForFormat(0);
  expect(second.holdForFormat(2 * EXPORT_PAGE_BYTES)).toBe(true);
});
