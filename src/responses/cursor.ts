import { concat } from '../encode/bytes.ts';
import { TokenValue } from '../encode/json-values.ts';
import { ObjectEncoder } from '../encode/json.ts';
import { isDay } from './timestamp.ts';

/**
 * A position in a survey's responses, which are ordered by (timestamp, userid, question_ref, surveyid). The responses up to
 * and including the one with these values have been read.
 */
export interface Cursor {
  /** UTC, as Postgres accepts it, with every stored digit: a `Date` would drop the microseconds. */
  readonly timestamp: string;
  readonly userid: string;
  readonly questionRef: string;
  /** Lower-case UUID. Tokens of the older format have none; they sort after every response with the same three values. */
  readonly surveyid?: string;
}

/** The columns of `responses` that contain a cursor's values, in order. */
export const CURSOR_COLUMNS = ['timestamp', 'userid', 'question_ref', 'surveyid'] as const;

/**
 * The first element of a token. A token is opaque, URL-safe text: base64url without padding (RFC 4648 section 5) of the JSON
 * array `[1,timestamp,userid,question_ref,surveyid]`. `TokenValue` writes it.
 */
export const TOKEN_VERSION = 1;

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[ T]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|\+00(?::00)?)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param values a row's values in {@link CURSOR_COLUMNS}; empty when there is no row */
export function cursorOf(values: readonly (string | null)[]): Required<Cursor> | undefined {
  if (values.length === 0) return undefined;
  const [timestamp, userid, questionRef, surveyid] = values as [string, string, string, string];
  return { timestamp, userid, questionRef, surveyid };
}

/** A cursor's values, in {@link CURSOR_COLUMNS}. */
const keyOf = ({ timestamp, userid, questionRef, surveyid }: Required<Cursor>) => [
  timestamp,
  userid,
  questionRef,
  surveyid,
];

export function isSamePosition(one: Cursor | undefined, other: Cursor | undefined): boolean {
  if (!one || !other) return false;
  const { timestamp, userid, questionRef, surveyid } = other;
  return (
    one.timestamp === timestamp && one.userid === userid && one.questionRef === questionRef && one.surveyid === surveyid
  );
}

/** Encodes a cursor's values, in {@link CURSOR_COLUMNS}, as an object with its token. */
const { encode } = new ObjectEncoder({
  columns: CURSOR_COLUMNS.length,
  keyColumns: [],
  members: [
    ...CURSOR_COLUMNS.map((name) => [name, 'string'] as const),
    ['token', new TokenValue(TOKEN_VERSION, [...CURSOR_COLUMNS.keys()])],
  ],
});

/** Writes a token in the current format. */
export function encodeCursor(cursor: Required<Cursor>): string {
  const rows = concat(JSON.stringify([keyOf(cursor)]), '}'); // a response ends with a brace, which the encoder expects
  const object = new TextDecoder().decode(encode(rows, 0, false).data);
  return (JSON.parse(object) as { token: string }).token;
}

/**
 * Reads a token in the current format, or in the older one: base64 of `timestamp,userid,question_ref`, split at the first two
 * commas, in the standard or the URL alphabet, padded or not. A space is read as the `+` that the client did not escape.
 *
 * @returns undefined if the token has neither format
 */
export function decodeCursor(token: string): Cursor | undefined {
  const text = fromBase64(token);
  if (text === undefined) return undefined;
  return text.startsWith('[') ? decodeVersioned(text) : decodeOlder(text);
}

function decodeVersioned(text: string): Cursor | undefined {
  const parts = parseJson(text);
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== TOKEN_VERSION) return undefined;
  const [, timestamp, userid, questionRef, surveyid] = parts as unknown[];
  if (typeof timestamp !== 'string' || typeof userid !== 'string') return undefined;
  if (typeof questionRef !== 'string' || typeof surveyid !== 'string') return undefined;
  if (!isTimestamp(timestamp) || !isStorable(userid) || !isStorable(questionRef) || !UUID.test(surveyid))
    return undefined;
  return { timestamp: inUtc(timestamp), userid, questionRef, surveyid };
}

function decodeOlder(text: string): Cursor | undefined {
  const first = text.indexOf(',');
  const second = text.indexOf(',', first + 1);
  if (first < 0 || second < 0) return undefined;
  const timestamp = text.slice(0, first);
  const userid = text.slice(first + 1, second);
  const questionRef = text.slice(second + 1);
  if (!isTimestamp(timestamp) || !isStorable(userid) || !isStorable(questionRef)) return undefined;
  return { timestamp: inUtc(timestamp), userid, questionRef };
}

/** Writes the offset as `Z`, which timestamp.ts can parse. */
const inUtc = (timestamp: string) => timestamp.replace(/\+00(?::00)?$/, 'Z');

/** Accepts only what Postgres accepts: 30 February would be a database error. */
function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text);
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Whether Postgres can store a text: one without NUL characters and lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fromBase64(token: string): string | undefined {
  const standard = token
    .replaceAll(' ', '+')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (standard === '' || /[^A-Za-z0-9+/]/.test(standard)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
