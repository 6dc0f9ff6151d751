import { describe, expect, test } from 'vitest';
import { Proof } from '../../src/db/proof.ts';
import { type Query, Value, sql } from '../../src/db/sql.ts';
import { csvEncoder } from '../../src/encode/csv.ts';
import { objectEncoder } from '../../src/encode/json.ts';

const limit = new Value(3);
const QUERY: Query = { text: sql`select a, b from t limit ${limit}`, width: 2, limit };
const encode = csvEncoder({ columns: 2, keyColumns: [0] });

type Cells = (string | null)[];
interface Result {
  readonly fields: readonly { name: string }[];
  readonly rows: Cells[];
  readonly rowCount: number | null;
}

/** A proof, and the result that Postgres would have for it. */
function proven(rows: Cells[]): { proof: Proof; result: Result } {
  const proof = new Proof(QUERY);
  const name = /'(r\w+)'/.exec(proof.statement.text)?.[1];
  const all = [...rows, [`${name} 3 4711`, null]];
  const fields = ['a', 'b'].map((column) => ({ name: column }));
  return { proof, result: { fields, rows: all, rowCount: all.length } };
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const csvOf = (proof: Proof, body: string) =>
  new TextDecoder().decode(proof.pageOf(bytesOf(body), encode).page.data);

/** A DatabaseError, an error of the encoder, or the error for JSON that is not whole. */
const REJECTED = /^(?:a result with|unexpected byte or end|.*JSON)/;

const ROWS: Cells[] = [
  ['1', null],
  ['2', 'é\u0001"🎉'],
];
const CSV = '1,\n2,"é\u0001""🎉"\n';

describe('a result is rejected as a transient failure if it has', () => {
  const foreign = [ROWS, []].map((rows) => proven(rows).result.rows);
  const changes: [string, (rows: Cells[]) => Cells[] | undefined][] = [
    ['not its last row', (rows) => rows.slice(0, -1)],
    ['its last row before others', ([a = [], b = [], last = []]) => [a, last, b]],
    ['a second last row', (rows) => [...rows, rows.at(-1) ?? []]],
    ['no rows', () => []],
    ['a row of another length', (rows) => rows.map((row, i) => (i === 1 ? row.slice(1) : row))],
    ['the rows of another result', () => foreign[0]],
    ['the last row of another result alone', () => foreign[1]],
    [
      'rows of a query with a lower limit',
      (rows) => rows.map(([a = null, b = null]) => [a?.replace(/ 3 /, ' 2 ') ?? null, b]),
    ],
  ];

  const expectRejected = (proof: Proof, result: Result) => {
    expect(() => proof.rowsOf(bytesOf(JSON.stringify(result)))).toThrow(
      expect.objectContaining({ kind: 'transient' }),
    );
    expect(() => csvOf(proof, JSON.stringify(result))).toThrow(REJECTED);
  };

  test.each(changes)('%s', (_, change) => {
    const { proof, result } = proven(ROWS);
    const rows = change(result.rows) as Cells[];
    expectRejected(proof, { ...result, rows, rowCount: rows.length });
  });

  test.each([0, 1, 2, 4, null])('another number of rows than it says: %s', (rowCount) => {
    const { proof, result } = proven(ROWS);
    expectRejected(proof, { ...result, rowCount });
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

test.each([
  ['CSV', encode],
  [
    'objects',
    objectEncoder({
      keyColumns: [],
      members: [
        ['a', 'string'],
        ['b', 'string'],
      ],
    }),
  ],
])('a body that is cut off anywhere is rejected, %s', (_, encodeRows) => {
  for (const last of ['', 'a', 'ab', 'abc']) {
    const { proof, result } = proven([...ROWS, ['3', last]]);
    const body = bytesOf(JSON.stringify(result));
    expect(() => proof.pageOf(body.slice(), encodeRows)).not.toThrow();
    for (let length = 0; length < body.length; length++)
      expect(() => proof.pageOf(body.slice(0, length), encodeRows)).toThrow(REJECTED);
  }
});
