import { describe, expect, test } from 'vitest';
import { Proof } from '../../src/db/proof.ts';
import { type Query, Value, sql } from '../../src/db/sql.ts';
import { csvEncoder } from '../../src/encode/csv.ts';

const limit = new Value(3);
const QUERY: Query = { text: sql`select a, b from t limit ${limit}`, limit };
const encode = csvEncoder({ columns: 2, keyColumns: [0] });

type Cells = (string | null)[];
interface Result {
  fields: { name: string }[];
  rows: Cells[];
  rowCount: number | null;
}

/**
 * A proof and the result that Postgres would have for it. Without rows, the left join returns a row
 * of nulls.
 */
function proven(
  rows: Cells[],
  { query = QUERY, suffix = '' }: { query?: Query; suffix?: string } = {},
): { proof: Proof; result: Result } {
  const proof = new Proof(query);
  const name = /'(r\w+)'/.exec(proof.sql)?.[1];
  const fields = ['a', 'b', 'concat_ws'].map((column) => ({ name: column }));
  const joined = rows.length > 0 ? rows : [[null, null]];
  const end = ` ${name} 3${suffix || (rows.length > 0 ? '' : ' none')}`;
  const checked = joined.map((row, i) =>
    row.concat(`${i + 1}${i + 1 === joined.length ? end : ''}`),
  );
  return { proof, result: { fields, rows: checked, rowCount: checked.length } };
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const csvOf = (proof: Proof, body: string) =>
  new TextDecoder().decode(proof.pageOf(bytesOf(body), encode).data);

/** A DatabaseError, or a MalformedRowsError of the encoder. */
const REJECTED = /^(?:a result with|unexpected byte or end)/;

const ROWS: Cells[] = [
  ['1', null],
  ['2', 'é\u0001"🎉'],
];
const CSV = '1,\n2,"é\u0001""🎉"\n';

test('a complete result is accepted, without the check', () => {
  const { proof, result } = proven(ROWS);
  expect(proof.rowsOf(result)).toEqual(ROWS);
  expect(csvOf(proof, JSON.stringify(result))).toBe(CSV);
});

test('a row of nulls stands for no rows only if it says so', () => {
  const { proof, result } = proven([]);
  expect(proof.rowsOf(result)).toEqual([]);
  expect(proof.pageOf(bytesOf(JSON.stringify(result)), encode)).toMatchObject({
    rowCount: 0,
    lastKey: [],
  });
  const { proof: other, result: one } = proven([[null, null]]);
  expect(other.rowsOf(one)).toEqual([[null, null]]);
  expect(csvOf(other, JSON.stringify(one))).toBe(',\n');
});

describe('a query that may stop early', () => {
  const query = {
    ...QUERY,
    ctes: [sql`walk as (select true as is_cut)`],
    isCut: sql`(select is_cut from walk)`,
  };
  const pageOf = ({ proof, result }: ReturnType<typeof proven>) =>
    proof.pageOf(bytesOf(JSON.stringify(result)), encode);

  test('is rejected if it has stopped with rows, or cannot stop', () => {
    const stopped = proven([], { query, suffix: ' cut' });
    expect(() => stopped.proof.rowsOf(stopped.result)).toThrow('rows of another result');
    for (const one of [proven(ROWS, { query, suffix: ' cut' }), proven([], { suffix: ' cut' })]) {
      expect(() => pageOf(one)).toThrow('rows of another result');
      expect(() => one.proof.rowsOf(one.result)).toThrow('rows of another result');
    }
  });
});

describe('a result is rejected as a transient failure if it has', () => {
  const foreign = [ROWS, []].map((rows) => proven(rows).result.rows);
  const changes: [string, (rows: Cells[]) => Cells[] | undefined][] = [
    ['not its first row', (rows) => rows.slice(1)],
    ['not its last row', (rows) => rows.slice(0, -1)],
    ['a copy of the row before', (rows) => rows.map((_, i) => rows[Math.max(0, i - 1)] as Cells)],
    ['two rows in each other’s place', (rows) => rows.toReversed()],
    ['no rows', () => []],
    ['a row of another length', (rows) => rows.map((row, i) => (i === 1 ? row.slice(1) : row))],
    ['the rows of another result', () => foreign[0]],
    ['the row of nulls of another result', () => foreign[1]],
    [
      'rows of a query with a lower limit',
      (rows) =>
        rows.map(([a = null, b = null, check]) => [a, b, check?.replace(/3$/, '2') ?? null]),
    ],
  ];

  test.each(changes)('%s', (_, change) => {
    const { proof, result } = proven(ROWS);
    const changed = { ...result, rows: change(result.rows) };
    expect(() => proof.rowsOf(changed)).toThrow(expect.objectContaining({ kind: 'transient' }));
    expect(() => csvOf(proof, JSON.stringify(changed))).toThrow(REJECTED);
  });
});

test('the body of a page may have its members in any order', () => {
  const { proof, result } = proven(ROWS);
  const { fields, rows, rowCount } = result;
  const bodies = [
    { fields: fields.map((field) => ({ x: [1, { y: ']}"\\' }], ...field })), rowCount, rows },
    { rowAsArray: true, rowCount, rows, fields, command: 'SELECT' },
  ];
  for (const body of bodies) expect(csvOf(proof, JSON.stringify(body))).toBe(CSV);
  expect(() => csvOf(proof, '<html>')).toThrow(REJECTED);
});
