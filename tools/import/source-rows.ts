import { shown } from './bad-line.ts';
import { responsesFile } from './columns.ts';
import { SourceFailure } from './source.ts';

/** An object of a JSON body. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Numbers that a double may not hold as they are written. JSON without them is parsed fast. */
const LONG_NUMBER = /(?:"\s*:|[[,])\s*-?\d(?:\d{15}|\d*[.eE])/;

/** https://tc39.es/proposal-json-parse-with-source/, which TypeScript does not describe yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

/**
 * The objects of `/surveys` or `/responses`. `JSON.stringify` writes their numbers with the digits
 * of the body.
 *
 * @param onLargeNumber called for each integer that a double cannot hold exactly
 */
export function objectsIn(body: Buffer, onLargeNumber?: () => void): JsonObject[] {
  const text = body.toString();
  const revive = (_: string, value: unknown, { source }: { source: string }) => {
    if (typeof value !== 'number') return value;
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) onLargeNumber?.();
    return rawJson(source);
  };

  try {
    const hasLong = LONG_NUMBER.test(text);
    const value = JSON.parse(text, hasLong ? (revive as () => unknown) : undefined) as unknown[] & {
      responses?: unknown[];
    };

    return (value.responses ?? value).map((item) => Object(item) as JsonObject);
  } catch {
    throw new SourceFailure('is not a list of objects in JSON');
  }
}

/** The fields of a response to load. */
export function fieldsIn(response: JsonObject): (string | null)[] {
  return Object.entries(responsesFile.columns).map(([name, { type }]) => {
    const value = response[name] ?? null;
    return value === null || (typeof value === 'string' && type !== 'jsonb')
      ? value
      : JSON.stringify(value);
  });
}

/**
 * A response with its exact time, which is in the token if that is base64 of
 * `timestamp,userid,question_ref`: the platform cuts times in JSON to milliseconds.
 */
export function withExactTime(response: JsonObject): JsonObject {
  const token = Buffer.from(String(response['token']), 'base64').toString('latin1');
  const [time = ''] = token.split(',', 1);
  const isSame = Date.parse(time) === Date.parse(String(response['timestamp']));
  return isSame ? { ...response, timestamp: time } : response;
}

/** Where a response stands, in words. */
export function placeOf(response: JsonObject): string {
  const names = ['timestamp', 'userid', 'question_ref'];
  return names.map((name) => `${name} ${shown(String(response[name]))}`).join(', ');
}
