import { type EncodeRows, type EncodedPage, isAt } from '../encode/rows.ts';
import { DatabaseError } from './errors.ts';
import { type Query, type Row, join, raw, render, sql } from './sql.ts';

/** What comes before the rows in the body of a response. Only small members do. */
const ROWS = '"rows":';
const MAX_START_BYTES = 64 * 1024;

/** The members of a response's body that are read. */
interface Result {
  readonly rows: Row[];
  readonly rowCount: unknown;
}

/**
 * The SQL of one attempt at a query, and what proves that its result is whole.
 *
 * A response can be valid JSON and yet be that of another query, or have lost rows. So one more row
 * follows those of the query. Its first cell has a random name, new in each attempt, and the query's
 * limit as it reached the database, and the others are null. The rows before it must be as many as
 * the response's own count, less one.
 *
 * `union all` does not guarantee an order, but Postgres reads its parts one after another, unless it
 * runs them in parallel, which it never does with `pg_backend_pid()`. `test/plans` holds this plan.
 */
export class Proof {
  readonly statement: ReturnType<typeof render>;
  readonly #width: number;
  /** How the last row's first cell begins. */
  readonly #start: string;

  constructor({ text, width, limit, forms }: Query) {
    const name = `r${crypto.randomUUID().replaceAll('-', '')}`;
    this.#width = width;
    this.#start = limit ? `${name} ${limit.param as number} ` : `${name} `;

    const parts = [
      raw(`'${name}'`),
      ...(limit ? [sql`${limit}::bigint`] : []),
      sql`pg_backend_pid()`,
      ...(forms ? [forms.sql] : []),
    ];
    const last = [sql`concat_ws(' ', ${join(parts)})`, ...Array(width - 1).fill(raw('null'))];
    this.statement = render(sql`(${text}) union all (select ${join(last)})`);
  }

  /**
   * Parses the rows in the body of a response.
   *
   * @returns them, and what the last one has for {@link Query.forms}
   * @throws DatabaseError `transient`, or SyntaxError
   */
  rowsOf(body: Uint8Array): { rows: Row[]; forms: string } {
    const { rows, rowCount } = JSON.parse(utf8Text.decode(body)) as Result;
    if (rows.some((row) => row.length !== this.#width)) throw corrupted('rows of another length');
    const end = rows.findIndex(([first]) => first?.startsWith(this.#start));
    return { rows: rows.slice(0, end), forms: this.#check(end, rows.slice(end), rowCount) };
  }

  /**
   * Encodes the rows in the body of a response, `{"fields":[…],"rows":[[…],…],"rowCount":…,…}` with
   * its members in any order.
   *
   * @param body compact JSON with rows as arrays of text
   * @throws DatabaseError `transient`, or an error of `encode`
   */
  pageOf(body: Uint8Array<ArrayBuffer>, encode: EncodeRows): { page: EncodedPage; forms: string } {
    const before = latin1.decode(body.subarray(0, MAX_START_BYTES)).indexOf(ROWS);
    if (before < 0) throw corrupted('no rows');
    const start = before + ROWS.length;
    const last = utf8.encode(`["${this.#start}`);
    let page: EncodedPage;
    try {
      page = encode(body, start, last);
    } catch (error) {
      // That of another query can have anything where this one has a time.
      if (body.some((_, at) => isAt(last, body, at))) throw error;
      throw corrupted('rows of another result');
    }

    const rest = `${utf8Text.decode(body.subarray(0, start + 1))}${utf8Text.decode(body.subarray(page.end))}`;
    const { rows, rowCount } = JSON.parse(rest) as Result;
    return { page, forms: this.#check(page.rowCount, rows, rowCount) };
  }

  /**
   * @param count the number of rows of the query
   * @param last what follows them
   * @returns what the last row has after its name, its limit and the process that made it
   */
  #check(count: number, last: readonly Row[], rowCount: unknown): string {
    const text = last[0]?.[0] ?? '';
    if (last.length !== 1 || rowCount !== count + 1 || !text.startsWith(this.#start))
      throw corrupted('rows of another result');
    return text.slice(this.#start.length).replace(/^\d+ ?/, '');
  }
}

const latin1 = new TextDecoder('latin1');
const utf8Text = new TextDecoder();
const utf8 = new TextEncoder();

const corrupted = (what: string) => new DatabaseError('transient', `a result with ${what}`);
