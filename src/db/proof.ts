import type { EncodeRows, EncodedPage } from '../encode/rows.ts';
import { DatabaseError } from './errors.ts';
import { type Param, type Query, type Row, join, raw, render, sql } from './sql.ts';

/** What comes before the rows in the body of a response. Only small members do. */
const ROWS = '"rows":';
const MAX_START_BYTES = 64 * 1024;

/** A page whose rows are proven to be those of its query. */
export interface ProvenPage extends EncodedPage {
  /** Whether the query has stopped early, without rows: see {@link Query.isCut}. */
  readonly isCut: boolean;
}

/**
 * The SQL of one attempt at a query, and what proves its result.
 *
 * A response can be valid JSON and yet be that of another query, lack rows, or have one twice or in
 * another's place. So each row has a last cell with its number, from 1, and in the last row a
 * random name, new in each attempt, and the query's limit. A query without rows returns one row of
 * nulls for this, with another word in this cell, so a result without rows is never complete. Nor
 * is that of a query that stops early.
 *
 * This wraps the query. SQL does not guarantee the order of its rows then, but Postgres keeps it: a
 * left join without a condition is a nested loop, here over a single row, and a window function
 * without ORDER BY sorts nothing. `test/plans` holds this plan.
 */
export class Proof {
  readonly sql: string;
  readonly params: readonly Param[];
  readonly #name = `r${crypto.randomUUID().replaceAll('-', '')}`;
  readonly #limit: Param;
  readonly #canBeCut: boolean;

  constructor({ text, ctes = [], limit, isCut }: Query) {
    this.#limit = limit?.param ?? '';
    this.#canBeCut = isCut !== undefined;
    const cut = isCut ? sql`when ${isCut} then 'cut'` : sql``;
    const end = sql`${raw(`'${this.#name}'`)}, ${limit ? sql`${limit}::bigint` : sql`''`}, case ${cut} when is_row is null then 'none' end`;
    // Unlike a count of the rows, neither function needs all of them before the first is sent.
    const check = sql`concat_ws(' ', row_number() over (), case when lead(true) over () is null then concat_ws(' ', ${end}) end)`;
    const start = ctes.length > 0 ? sql`with ${join(ctes)}` : sql``;
    const statement = sql`${start} select result.*, ${check}
      from (select) one_row left join ((${text}) result cross join (select true) found (is_row)) on true`;
    const { text: rendered, params } = render(statement);
    this.sql = rendered;
    this.params = params;
  }

  /**
   * @returns the rows of a result of the driver, without the check. @throws DatabaseError
   * `transient`
   */
  rowsOf(result: unknown): Row[] {
    const { fields, rows } = result as { fields: readonly unknown[]; rows: Row[] };
    if (rows.some((row) => row.length !== fields.length))
      throw corrupted('rows of different lengths');
    const checks = rows.map((row) => row.at(-1));
    const check = checks.pop();
    if (check === `${this.#endText(1)} none`) return [];
    if (
      check !== this.#endText(rows.length) ||
      checks.some((number, i) => number !== String(i + 1))
    )
      throw corrupted('rows of another result');
    return rows.map((row) => row.slice(0, -1));
  }

  /**
   * Encodes the rows in the body of a response, `{"fields":[…],"rows":[[…],…],"rowCount":…,…}` with
   * its members in any order.
   *
   * @param body compact JSON with rows as arrays of text
   * @throws DatabaseError `transient`, or an error of `encode`
   */
  pageOf(body: Uint8Array<ArrayBuffer>, encode: EncodeRows): ProvenPage {
    const start = new TextDecoder('latin1').decode(body.subarray(0, MAX_START_BYTES)).indexOf(ROWS);
    if (start < 0) throw corrupted('no rows');
    const page = encode(body, start + ROWS.length);
    const { data, rowCount, check } = page;
    if (check === this.#endText(rowCount)) return { ...page, isCut: false };
    const isCut = this.#canBeCut && check === `${this.#endText(1)} cut`;
    if (!(isCut || check === `${this.#endText(1)} none`)) throw corrupted('rows of another result');
    return {
      ...page,
      data: data.subarray(0, 0),
      cells: new Int32Array(0),
      rowCount: 0,
      lastKey: [],
      isCut,
    };
  }

  /** The last row's check. */
  #endText(rowCount: number): string {
    return `${rowCount} ${this.#name} ${String(this.#limit)}`;
  }
}

const corrupted = (what: string) => new DatabaseError('transient', `a result with ${what}`);
