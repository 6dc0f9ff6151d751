import { expect, test } from 'vitest';
import { transcodeToCsv } from '../../src/encode/csv.ts';
import { checkedRows } from '../../src/db/checked-rows.ts';

const answer = (rows: unknown[], rowCount = rows.length) => ({
  fields: [{ name: 'a' }, { name: 'b' }],
  rows,
  rowCount,
  command: 'SELECT',
});

test('an answer’s rows are taken when they are as many and as long as it says', () => {
  const rows = [
    ['1', null],
    ['2', 'x'],
  ];
  expect(checkedRows(answer(rows))).toBe(rows);
  expect(checkedRows(answer(rows), 2)).toBe(rows);
  expect(checkedRows({ fields: [], rows: [], rowCount: 3, command: 'UPDATE' })).toEqual([]);
});

test.each([
  ['with fewer rows than it says', answer([['1', '2']], 2), undefined],
  ['with no rows, though it says so', answer([], 2), undefined],
  ['without fields, with fewer rows', { ...answer([], 7), fields: [] }, undefined],
  ['with a row that is too short', answer([['1', '2'], ['3']]), undefined],
  ['to another query', answer([['1', '2']]), 3],
])('an answer %s is asked for again', (_, spoilt, columns) => {
  expect(() => checkedRows(spoilt, columns)).toThrow(expect.objectContaining({ kind: 'transient' }));
});

test('a page of CSV is refused when its rows have not the columns that were asked for', () => {
  const body = (rows: unknown[]) => new TextEncoder().encode(JSON.stringify({ rows, rowCount: rows.length }));
  expect(() => transcodeToCsv(body([['1', '2']]), [], 3)).toThrow('unexpected byte');
  expect(() => transcodeToCsv(body([['1', '2'], ['3']]))).toThrow('unexpected byte');
  expect(transcodeToCsv(body([['1', '2']]), [], 2).rowCount).toBe(1);
});
