import { expect, test } from 'vitest';
import { checkedRows } from '../../src/db/client.ts';

const resultOf = (rows: unknown[], rowCount = rows.length) => ({
  fields: [{ name: 'a' }, { name: 'name' }],
  rows,
  rowCount,
});

test('accepts the rows of a complete result', () => {
  const rows = [
    ['1', 'name 2'],
    [null, 'name 2'],
  ];
  expect(checkedRows(resultOf(rows), 2, 'name')).toBe(rows);
});

test.each([
  ['fewer rows than its rowCount', resultOf([['1', 'name 1']], 2), 2],
  ['no rows despite its rowCount', resultOf([], 2), 2],
  ['neither fields nor rows despite its rowCount', { ...resultOf([], 7), fields: [] }, 2],
  ['a row that is too short', resultOf([['1', 'name 2'], ['name 2']]), 2],
  ['the columns of another query', resultOf([['1', 'name 1']]), 3],
  ['the name of another request', { ...resultOf([['1', 'name 1']]), fields: [{ name: 'a' }, { name: 'b' }] }, 2],
  ['the rows of another request', resultOf([['1', 'other 1']]), 2],
  ['a row less than the query had', resultOf([['1', 'name 2']]), 2],
])('treats %s as a transient failure', (_, corrupted, columns) => {
  expect(() => checkedRows(corrupted, columns, 'name')).toThrow(expect.objectContaining({ kind: 'transient' }));
});
