import { expect, test } from 'vitest';
import { Value, raw, render, sql } from '../../src/db/sql.ts';

test('values become parameters, in the order in which they occur', () => {
  const inner = sql`b = ${'x'} and c = any(${['y', 'z']})`;
  expect(render(sql`select ${raw('a')} from t where ${inner} limit ${3}`)).toEqual({
    text: 'select a from t where b = $1 and c = any($2) limit $3',
    params: ['x', ['y', 'z'], 3],
  });
});

test('equal values are two parameters, since their types can differ; the same value is one', () => {
  const limit = new Value(1);
  const fragment = sql`${'1'}::text`;
  expect(render(sql`${1} ${1} ${limit} ${fragment} ${limit} ${fragment}`)).toEqual({
    text: '$1 $2 $3 $4::text $3 $4::text',
    params: [1, 1, 1, '1'],
  });
});

test('backslashes stay, as in psql', () => {
  expect(render(sql`E'\n\\d'`).text).toBe(String.raw`E'\n\\d'`);
});
