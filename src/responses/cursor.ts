import { isDate } from './timestamp.ts';

/**
 * A position in a survey's responses, which are ordered by (timestamp, userid, question_ref,
 * surveyid). The responses up to and including the one with these values have been read.
 */
export interface Cursor {
  /** UTC, as Postgres accepts it, with every stored digit: a `Date` would drop the microseconds. */
  readonly timestamp: string;
  readonly userid: string;
  readonly question_ref: string;
  /**
   * Lower-case UUID. Tokens of the older format have none; they sort after every response with the
   * same three values.
   */
  readonly surveyid?: string;
}

/** The columns of `responses` that contain a cursor's values, in order; its members. */
export const CURSOR_COLUMNS = ['timestamp', 'userid', 'question_ref', 'surveyid'] as const;

/**
 * The first element of a token. A token is opaque, URL-safe text: base64url without padding (RFC
 * 4648 section 5) of the JSON array `[1,timestamp,userid,question_ref,surveyid]`.
 */
export const TOKEN_VERSION = 1;

const TOKEN = /^[\w+/ -]+={0,2}$/;
const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|\+00(?::00)?)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param values a row's values in {@link CURSOR_COLUMNS}; empty when there is no row */
export function cursorOf(values: readonly (string | null)[]): Required<Cursor> | undefined {
  if (values.length === 0) return undefined;

  const members = CURSOR_COLUMNS.map((name, i) => [name, values[i]]);
  return Object.fromEntries(members) as Required<Cursor>;
}

export function isSamePosition(one: Cursor | undefined, other: Cursor | undefined): boolean {
  return one !== undefined && CURSOR_COLUMNS.every((name) => one[name] === other?.[name]);
}

/** Writes a token in the current format. In pages of responses, `tokenWriter` writes the same. */
export function encodeCursor(cursor: Required<Cursor>): string {
  const array = [TOKEN_VERSION, ...CURSOR_COLUMNS.map((name) => cursor[name])];
  const bytes = new TextEncoder().encode(JSON.stringify(array));

  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
}

/**
 * Reads a token in the current format, or in the older one: base64 of
 * `timestamp,userid,question_ref`, split at the first two commas, in the standard or the URL
 * alphabet, padded or not. A space is read as the `+` that the client did not escape.
 *
 * @returns undefined if the token has neither format
 */
export function decodeCursor(token: string): Cursor | undefined {
  const [timestamp = '', userid = '', questionRef = '', surveyid] = valuesIn(token);
  const isUuid = surveyid === undefined || UUID.test(surveyid);
  const areTexts = isStorable(userid) && isStorable(questionRef);
  if (!isTimestamp(timestamp) || !areTexts || !isUuid) return undefined;

  const inUtc = timestamp.replace(/\+00(?::00)?$/, 'Z'); // which timestamp.ts can parse
  const cursor = { timestamp: inUtc, userid, question_ref: questionRef };
  return surveyid === undefined ? cursor : { ...cursor, surveyid };
}

/**
 * @returns the three values of an older token, or the four of a current one; none if it is neither
 */
function valuesIn(token: string): readonly string[] {
  try {
    if (!TOKEN.test(token)) return [];

    const text = fromBase64(token);
    if (!text.startsWith('[')) return /^([^,]*),([^,]*),(.*)$/s.exec(text)?.slice(1) ?? [];

    const [version, ...values] = JSON.parse(text) as unknown[];
    const isCurrent = version === TOKEN_VERSION && values.length === CURSOR_COLUMNS.length;
    return isCurrent && values.every((value) => typeof value === 'string') ? values : [];
  } catch {
    return []; // it is not base64, UTF-8 or JSON
  }
}

/** Accepts only what Postgres accepts: 30 February would be a database error. */
const isTimestamp = (text: string) => isDate(TIMESTAMP.exec(text)?.[1] ?? '');

/** Whether Postgres can store a text: one without NUL characters and lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** @throws SyntaxError or TypeError unless it is base64 of UTF-8 */
function fromBase64(token: string): string {
  const unpadded = token
    .replace(/={1,2}$/, '')
    .replaceAll(/[ +]/g, '-')
    .replaceAll('/', '_');
  const bytes = Uint8Array.fromBase64(unpadded, { alphabet: 'base64url' });
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}
