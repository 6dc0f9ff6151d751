import { expect, test } from 'vitest';
import { checkedRows } from '../../src/db/client.ts';

const resultOf = (rows: unknown[], rowCount = rows.length) => ({
  fields: [{ name: 'a' }, { name: 'b' }],
  rows,
  rowCount,
  command: 'SELECT',
});

test('accepts the rows of a complete result', () => {
  const rows = [
    ['1', null],
    ['2', 'x'],
  ];
  expect(checkedRows(resultOf(rows))).toBe(rows);
  expect(checkedRows(resultOf(rows), 2)).toBe(rows);
  expect(checkedRows({ fields: [], rows: [], rowCount: 3, command: 'UPDATE' })).toEqual([]);
});

test.each([
  ['fewer rows than its rowCount', resultOf([['1', '2']], 2), undefined],
  ['no rows despite its rowCount', resultOf([], 2), undefined],
  ['neither fields nor rows despite its rowCount', { ...resultOf([], 7), fields: [] }, undefined],
  ['a row that is too short', resultOf([['1', '2'], ['3']]), undefined],
  ['the columns of another query', resultOf([['1', '2']]), 3],
])('treats %s as a transient failure', (_, corrupted, columns) => {
  expect(() => checkedRows(corrupted, columns)).toThrow(expect.objectContaining({ kind: 'transient' }));
});
