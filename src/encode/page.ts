import { MalformedPageError } from './malformed-page.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x7b, 0x5b]); // { [
const CLOSE = new Set([0x7d, 0x5d]); // } ]

/** What has become of a page's rows. */
export interface TranscodedRows {
  readonly rowCount: number;
  /** The position in the body behind the rows' `]`. */
  readonly end: number;
}

/**
 * Finds the rows in the body of a SQL-over-HTTP response, `{"fields":[…],"rows":[[…],…],"rowCount":…,…}` in whatever order
 * its members come, and has them transcoded. `rowCount` has to agree with the rows found.
 *
 * @param body compact JSON with rows as arrays of text
 * @param columns that every row must have; as many as the first when not given
 * @param transcode is given the position of the rows' `[`; at least one more byte follows their `]`
 * @throws MalformedPageError
 */
export function transcodePage<T extends TranscodedRows>(
  body: Uint8Array<ArrayBuffer>,
  columns: number | undefined,
  transcode: (start: number) => T,
): T {
  let page: T | undefined;
  let rowCount: number | undefined;
  let fields: readonly unknown[] | undefined;
  let at = expectChar(body, 0, '{');
  for (;;) {
    const keyEnd = skipValue(body, at);
    const key = textOf(body, at, keyEnd);
    const value = expectChar(body, keyEnd, ':');
    if (key === '"rows"') {
      page = transcode(value);
      at = page.end;
    } else {
      at = skipValue(body, value);
      if (key === '"rowCount"') rowCount = Number(textOf(body, value, at));
      if (key === '"fields"') fields = JSON.parse(textOf(body, value, at)) as unknown[];
    }
    if (body[at] !== 0x2c) break;
    at++;
  }
  if (expectChar(body, at, '}') !== body.length) throw new MalformedPageError('a page with something behind its end');
  if (!page) throw new MalformedPageError('a page without rows');
  if (page.rowCount !== rowCount) {
    throw new MalformedPageError(`a page with ${page.rowCount} rows that should have ${rowCount}`);
  }
  // Without rows to tell, another query's answer would be the end of the data.
  if (page.rowCount === 0 && columns !== undefined && fields?.length !== columns) {
    throw new MalformedPageError(`a page of ${fields?.length} columns that should have ${columns}`);
  }
  return page;
}

/** @returns the position behind the character */
function expectChar(bytes: Uint8Array, at: number, char: string): number {
  if (bytes[at] !== char.charCodeAt(0)) throw new MalformedPageError(`no ${char} at position ${at} of a page`);
  return at + 1;
}

/** @returns the position behind the JSON value that begins at `start`: at the comma, colon or bracket after it */
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
  throw new MalformedPageError('a page that is cut off');
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}
