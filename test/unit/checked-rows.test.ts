import { expect, test } from 'vitest';
import { checkedRows } from '../../src/db/client.ts';

const resultOf = (rows: unknown[], rowCount = rows.length) => ({
  fields: [{ name: 'a' }, { name: 'b' }],
  rows,
  rowCount,
});

test('accepts the rows of a complete result', () => {
  const rows = [
    ['1', null],
    ['2', 'x'],
  ];
  expect(checkedRows(resultOf(rows), 2, 'a')).toBe(rows);
});

test.each([
  ['fewer rows than its rowCount', resultOf([['1', '2']], 2), 2],
  ['no rows despite its rowCount', resultOf([], 2), 2],
  ['neither fields nor rows despite its rowCount', { ...resultOf([], 7), fields: [] }, 2],
  ['a row that is too short', resultOf([['1', '2'], ['3']]), 2],
  ['the columns of another query', resultOf([['1', '2']]), 3],
  ['the name of another request', { ...resultOf([['1', '2']]), fields: [{ name: 'b' }, { name: 'b' }] }, 2],
])('treats %s as a transient failure', (_, corrupted, columns) => {
  expect(() => checkedRows(corrupted, columns, 'a')).toThrow(expect.objectContaining({ kind: 'transient' }));
});
