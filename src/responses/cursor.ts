import { TokenValue } from '../encode/json-values.ts';
import { isDay } from './timestamp.ts';

/**
 * A place in a survey's responses, which are ordered by (timestamp, userid, question_ref, surveyid): everything up to and
 * including the response named here has been read.
 */
export interface Cursor {
  /** UTC, in a form that Postgres reads, with all the digits it stored: microseconds never pass through a `Date`. */
  readonly timestamp: string;
  readonly userid: string;
  readonly questionRef: string;
  /** Lower-case UUID. Absent in tokens of the older form, which stand behind every response with the same three values. */
  readonly surveyid?: string;
}

const VERSION = 1;

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[ T]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|\+00(?::00)?)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A response's token, which is a cursor as opaque, URL-safe text: base64url, no padding (RFC 4648 section 5), of versioned
 * JSON, `[1,timestamp,userid,question_ref,surveyid]`.
 *
 * @param columns of these four, in a row; none of them is ever null
 */
export const cursorValue = (columns: readonly number[]) => new TokenValue(VERSION, columns);

/**
 * Reads a token as {@link cursorValue} writes it, or one of the older form: base64 of `timestamp,userid,question_ref`,
 * split at the first two commas, in the standard or the URL alphabet, padded or not. A `+` that reached us as a space,
 * because the client did not escape it, is a `+` again.
 *
 * @returns undefined when the token is neither
 */
export function decodeCursor(token: string): Cursor | undefined {
  const text = fromBase64(token);
  if (text === undefined) return undefined;
  return text.startsWith('[') ? decodeVersioned(text) : decodeOlder(text);
}

function decodeVersioned(text: string): Cursor | undefined {
  const parts = parseJson(text);
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== VERSION) return undefined;
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

/** The offset in the one spelling that `timestamp.ts` reads as well. */
const inUtc = (timestamp: string) => timestamp.replace(/\+00(?::00)?$/, 'Z');

/** Only what Postgres reads without complaint: 30 February would be a database error, not a place to resume from. */
function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text);
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Postgres text cannot hold a NUL, nor half of a surrogate pair. */
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
