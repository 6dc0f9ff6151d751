import { shown } from './bad-line.ts';
import type { JsonObject } from './source.ts';

/**
 * A response with its exact time, which is in the token if that is base64 of
 * `timestamp,userid,question_ref`: the platform cuts times in JSON to milliseconds.
 */
export function withExactTime(response: JsonObject): JsonObject {
  const token = Buffer.from(response['token'] ?? '', 'base64').toString('latin1');
  const [time = ''] = token.split(',', 1);
  const isSame = Date.parse(time) === Date.parse(response['timestamp'] ?? '');
  return isSame ? { ...response, timestamp: time } : response;
}

/** Where a response stands, in words. */
export function placeOf(response: JsonObject): string {
  const names = ['timestamp', 'userid', 'question_ref'];
  return names.map((name) => `${name} ${shown(response[name])}`).join(', ');
}
