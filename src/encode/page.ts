import { checkText } from '../db/sql.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x7b, 0x5b]); // { [
const CLOSE = new Set([0x7d, 0x5d]); // } ]

/** The columns of a page. Columns are counted from 0. */
export interface PageColumns {
  /** The number of columns every row must have. */
  readonly columns: number;
  /** The columns of the last row to return as `lastKey`. */
  readonly keyColumns: readonly number[];
  /** Whether rows have one more cell, which is checked and not encoded: see `checkColumn` in db/sql.ts. */
  readonly checked?: boolean;
  /** Whether to return the positions of the cells, which only CSV has. */
  readonly cells?: boolean | undefined;
}

/** Rows, encoded. */
export interface PageData {
  /** The records or objects; empty when there are no rows. */
  readonly data: Uint8Array<ArrayBuffer>;
  /**
   * The position of each cell in `data`, row by row, then the length of `data`: a cell ends before the byte that precedes the
   * next one. Empty unless requested.
   */
  readonly cells: Int32Array<ArrayBuffer>;
}

/** A page of rows, encoded. */
export interface EncodedPage extends PageData {
  readonly rowCount: number;
  /** The last row's texts in the key columns, null for a null. Empty when there are no rows. */
  readonly lastKey: readonly (string | null)[];
}

/** The rows of a page, encoded, and what else they tell. */
export interface EncodedRows extends EncodedPage {
  /** The position after the rows. */
  readonly end: number;
  /** The last row's text in the check column, if there is one. */
  readonly check: string | null | undefined;
}

/** The body is truncated, does not contain rows of text cells, or is not the result of its query. */
export class MalformedPageError extends Error {
  override name = 'MalformedPageError';
}

/** @param at the position in the page, in bytes from 0 */
export function malformed(at: number): MalformedPageError {
  return new MalformedPageError(`unexpected byte or end at position ${at} of a page`);
}

/**
 * Finds the rows in the body of a SQL-over-HTTP response, `{"fields":[…],"rows":[[…],…],"rowCount":…,…}` with its members in
 * any order, and encodes them. `rowCount`, the name of the last column and the check column must agree with the rows.
 *
 * @param body compact JSON with rows as arrays of text
 * @param columns the columns every row must have
 * @param name the name that the last column must have
 * @param encodeRows takes the position of the rows' `[` and returns the position after their `]` as `end`
 * @throws MalformedPageError
 */
export function encodePage(
  body: Uint8Array<ArrayBuffer>,
  { columns, checked = false }: PageColumns,
  name: string,
  encodeRows: (start: number) => EncodedRows,
): EncodedPage {
  let page: EncodedRows | undefined;
  let rowCount: number | undefined;
  let fields: readonly { readonly name: string }[] | undefined;
  let at = expectChar(body, 0, '{');
  for (;;) {
    const keyEnd = skipValue(body, at);
    const key = textOf(body, at, keyEnd);
    const value = expectChar(body, keyEnd, ':');
    if (key === '"rows"') {
      page = encodeRows(value);
      at = page.end;
    } else {
      at = skipValue(body, value);
      if (key === '"rowCount"') rowCount = Number(textOf(body, value, at));
      if (key === '"fields"') fields = JSON.parse(textOf(body, value, at)) as typeof fields;
    }
    if (body[at] !== 0x2c) break;
    at++;
  }
  if (expectChar(body, at, '}') !== body.length)
    throw new MalformedPageError('unexpected bytes after the end of a page');
  if (!page) throw new MalformedPageError('a page without rows');
  if (fields?.at(-1)?.name !== name) throw new MalformedPageError('a page of another request');
  if (page.rowCount !== rowCount) {
    throw new MalformedPageError(`a page of ${page.rowCount} rows whose rowCount is ${rowCount}`);
  }
  if (checked && rowCount > 0 && page.check !== checkText(name, rowCount)) {
    throw new MalformedPageError('a page with rows of another request, or without some of its rows');
  }
  // An empty result of another query would pass for the end of the data.
  const columnCount = columns + Number(checked);
  if (rowCount === 0 && fields.length !== columnCount) {
    throw new MalformedPageError(`a page of ${fields.length} columns instead of ${columnCount}`);
  }
  return page;
}

/** @returns the position after the character */
function expectChar(bytes: Uint8Array, at: number, char: string): number {
  if (bytes[at] !== char.charCodeAt(0)) throw new MalformedPageError(`no ${char} at position ${at} of a page`);
  return at + 1;
}

/** @returns the position after the JSON value that begins at `start`: that of a comma, colon or closing bracket */
function skipValue(bytes: Uint8Array, start: number): number {
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
    } else if (byte === 0x2c || byte === 0x3a || CLOSE.has(byte)) {
      return at;
    }
  }
  throw new MalformedPageError('a truncated page');
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}
