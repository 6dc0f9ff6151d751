import type { EncodeRows, EncodedPage } from '../encode/rows.ts';
import { DatabaseError } from './errors.ts';
import { type Param, type Query, type Row, join, raw, render, sql } from './sql.ts';

const OPEN = new Set([0x7b, 0x5b]); // { [
const CLOSE = new Set([0x7d, 0x5d]); // } ]
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** A page whose rows are proven to be those of its query. */
export interface ProvenPage extends EncodedPage {
  /** Whether the query has stopped early, without rows: see {@link Query.isCut}. */
  readonly isCut: boolean;
}

/** A result as the driver returns it. */
interface FullResult {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: Row[];
  readonly rowCount: number | null;
}

/**
 * The SQL of one attempt at a query, and what proves its result.
 *
 * A response can be valid JSON and yet be that of another query, or lack rows. So the first column gets a random name in each
 * attempt, which the result has to carry, and each row has a last cell with that name, the number of rows and the query's limit. A
 * query without rows returns one row of nulls for this, so a result without rows is never complete. Nor is the result of a query
 * that stops early, whose row of nulls has another word in this cell. The cell takes about 8 % of a page query's time.
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
    const name = this.#name;
    this.#limit = limit?.param ?? '';
    this.#canBeCut = isCut !== undefined;
    const cut = isCut ? sql`, case when ${isCut} then 'cut' end` : sql``;
    const check = sql`concat_ws(' ', '${raw(name)}', count(*) over (), ${limit ? sql`${limit}::bigint` : sql`''`}${cut})`;
    const start = ctes.length > 0 ? sql`with ${join(ctes, ', ')}` : sql``;
    const statement = sql`${start} select result.*, ${check}
      from (select) one_row left join (${text}) result (${raw(name)}) on true`;
    const { text: rendered, params } = render(statement);
    this.sql = rendered;
    this.params = params;
  }

  /** @returns the rows of a result, without the check. @throws DatabaseError `transient` */
  rowsOf(result: unknown): Row[] {
    const { fields, rows, rowCount } = result as FullResult;
    this.#checkName(fields);
    if (rows.length === 0 || rows.length !== rowCount)
      throw corrupted(`${rows.length} rows and a rowCount of ${rowCount}`);
    if (rows.some((row) => row.length !== fields.length)) throw corrupted('rows of different lengths');
    if (rows.some((row) => row.at(-1) !== this.#checkText(rowCount))) throw corrupted('rows of another result');
    const values = rows.map((row) => row.slice(0, -1));
    return values.length === 1 && values[0]?.every((value) => value === null) ? [] : values;
  }

  /**
   * Encodes the rows in the body of a response, `{"fields":[…],"rows":[[…],…],"rowCount":…,…}` with its members in any order.
   *
   * @param body compact JSON with rows as arrays of text
   * @throws DatabaseError `transient`, or an error of `encode`
   */
  pageOf(body: Uint8Array<ArrayBuffer>, encode: EncodeRows): ProvenPage {
    let page: ReturnType<EncodeRows> | undefined;
    let rowCount: number | undefined;
    let fields: FullResult['fields'] = [];
    let at = afterChar(body, 0, '{');
    for (;;) {
      const keyEnd = afterValue(body, at);
      const key = textOf(body, at, keyEnd);
      const value = afterChar(body, keyEnd, ':');
      if (key === '"rows"') {
        page = this.#noRows(body, value) ?? encode(body, value, true);
        at = page.end;
      } else {
        at = afterValue(body, value);
        if (key === '"rowCount"') rowCount = Number(textOf(body, value, at));
        if (key === '"fields"') fields = JSON.parse(textOf(body, value, at)) as typeof fields;
      }
      if (body[at] !== COMMA) break;
      at++;
    }
    if (afterChar(body, at, '}') !== body.length) throw corrupted('bytes after its end');
    this.#checkName(fields);
    if (!page) throw corrupted('no rows');
    const returned = Math.max(1, page.rowCount); // a row of nulls stands for no rows
    if (returned !== rowCount) throw corrupted(`${returned} rows and a rowCount of ${rowCount}`);
    const isCut = this.#canBeCut && page.rowCount === 0 && page.extra === this.#cutText;
    if (!isCut && page.extra !== this.#checkText(rowCount)) throw corrupted('rows of another result');
    return { ...page, isCut };
  }

  /** The row of nulls that stands for no rows, encoded; undefined if there are others. */
  #noRows(body: Uint8Array<ArrayBuffer>, start: number): ReturnType<EncodeRows> | undefined {
    if (textOf(body, start, start + '[[null'.length) !== '[[null') return undefined;
    let at = start + '[['.length;
    while (textOf(body, at, at + NULL.length) === NULL) at += NULL.length;
    for (const extra of this.#canBeCut ? [this.#checkText(1), this.#cutText] : [this.#checkText(1)]) {
      const last = `"${extra}"]]`;
      const end = at + last.length;
      if (textOf(body, at, end) === last)
        return { data: body.subarray(0, 0), cells: new Int32Array(0), rowCount: 0, lastKey: [], end, extra };
    }
    return undefined;
  }

  #checkName(fields: FullResult['fields']): void {
    if (fields[0]?.name !== this.#name) throw corrupted('the name of another query');
  }

  #checkText(rowCount: number): string {
    return `${this.#name} ${rowCount} ${String(this.#limit)}`;
  }

  get #cutText(): string {
    return `${this.#checkText(1)} cut`;
  }
}

const NULL = 'null,';

const corrupted = (what: string) => new DatabaseError('transient', `a result with ${what}`);

/** @returns the position after a character that has to be at `at` */
function afterChar(bytes: Uint8Array, at: number, char: string): number {
  if (bytes[at] !== char.charCodeAt(0)) throw corrupted(`no ${char} at position ${at}`);
  return at + 1;
}

/** @returns the position after the JSON value that begins at `start`: that of a comma, colon or closing bracket */
function afterValue(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (OPEN.has(byte)) {
      depth++;
    } else if (depth > 0) {
      if (CLOSE.has(byte)) depth--;
    } else if (byte === COMMA || byte === COLON || CLOSE.has(byte)) {
      return at;
    }
  }
  throw corrupted('no end');
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}
