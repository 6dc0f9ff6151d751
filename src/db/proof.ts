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

/** A result as the driver returns it. */
interface FullResult {
  readonly fields: readonly unknown[];
  readonly rows: Row[];
}

/**
 * The SQL of one attempt at a query, and what proves its result.
 *
 * A response can be valid JSON and yet be that of another query, lack rows, or have one twice or in another's place. So each row has a
 * last cell with its number, from 1, a random name, new in each attempt, the number of rows, and the query's limit. A query without
 * rows returns one row of nulls for this, so a result without rows is never complete. Nor is the result of a query that stops early,
 * whose row of nulls has another word in this cell. The cell takes about 8 % of a page query's time.
 *
 * This wraps the query. SQL does not guarantee the order of its rows then, but Postgres keeps it: a left join without a condition is
 * a nested loop, here over a single row, and a window function without ORDER BY sorts nothing. `test/plans` holds this plan.
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
    const cut = isCut ? sql`, case when ${isCut} then 'cut' end` : sql``;
    const name = raw(`'${this.#name}'`);
    const numbers = sql`row_number() over (), ${name}, count(is_row) over ()`;
    const check = sql`concat_ws(' ', ${numbers}, ${limit ? sql`${limit}::bigint` : sql`''`}${cut})`;
    const start = ctes.length > 0 ? sql`with ${join(ctes, ', ')}` : sql``;
    const statement = sql`${start} select result.*, ${check}
      from (select) one_row left join ((${text}) result cross join (select true) found (is_row)) on true`;
    const { text: rendered, params } = render(statement);
    this.sql = rendered;
    this.params = params;
  }

  /** @returns the rows of a result, without the check. @throws DatabaseError `transient` */
  rowsOf(result: unknown): Row[] {
    const { fields, rows } = result as FullResult;
    if (rows.some((row) => row.length !== fields.length)) throw corrupted('rows of different lengths');
    const isEmpty = rows.length === 1 && rows[0]?.at(-1) === this.#checkText(1, 0);
    if (isEmpty) return [];
    if (rows.length === 0 || rows.some((row, i) => row.at(-1) !== this.#checkText(i + 1, rows.length)))
      throw corrupted('rows of another result');
    return rows.map((row) => row.slice(0, -1));
  }

  /**
   * Encodes the rows in the body of a response, `{"fields":[…],"rows":[[…],…],"rowCount":…,…}` with its members in any order.
   *
   * @param body compact JSON with rows as arrays of text
   * @throws DatabaseError `transient`, or an error of `encode`
   */
  pageOf(body: Uint8Array<ArrayBuffer>, encode: EncodeRows): ProvenPage {
    const start = new TextDecoder('latin1').decode(body.subarray(0, MAX_START_BYTES)).indexOf(ROWS);
    if (start < 0) throw corrupted('no rows');
    const page = encode(body, start + ROWS.length);
    const { data, rowCount, check } = page;
    if (check === this.#checkText(rowCount, rowCount)) return { ...page, isCut: false };
    const isCut = this.#canBeCut && check === `${this.#checkText(1, 0)} cut`;
    if (rowCount !== 1 || !(isCut || check === this.#checkText(1, 0))) throw corrupted('rows of another result');
    return { ...page, data: data.subarray(0, 0), cells: new Int32Array(0), rowCount: 0, lastKey: [], isCut };
  }

  #checkText(row: number, rowCount: number): string {
    return `${row} ${this.#name} ${rowCount} ${String(this.#limit)}`;
  }
}

const corrupted = (what: string) => new DatabaseError('transient', `a result with ${what}`);
