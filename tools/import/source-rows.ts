import { UserError } from '../command.ts';
import { parseInstant } from '../../src/responses/timestamp.ts';
import { shown } from './bad-line.ts';
import { type FileFormat, reasonForRefusal, sourceResponses, timestamp } from './columns.ts';
import type { Row } from './load-file.ts';

/** An object of a JSON body. Its numbers are raw JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** More responses of one time than any survey has: their keys are held in memory. */
const MAX_OF_ONE_TIME = 1_000_000;

/** Whether JSON text has an escaped NUL, or half of a surrogate pair. */
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** The object as a row to load, with a field for each column of the format. */
export function rowOfObject(object: JsonObject, line: number, { columns }: FileFormat): Row {
  const fields = Object.entries(columns).map(([name, { type }]) => {
    const value = object[name] ?? null;
    if (value === null) return null;
    return typeof value === 'string' && type !== 'jsonb' ? value : JSON.stringify(value);
  });

  return { line, fields };
}

export const RESPONSE_COLUMNS = Object.keys(sourceResponses.columns);

/** Why a response cannot be stored, as far as this is known without Postgres. */
export function refusalOf({ fields }: Row): string | undefined {
  const reasons = RESPONSE_COLUMNS.map((name, index) =>
    reasonForRefusal(sourceResponses, name, fields[index] ?? null),
  );

  const metadata = fields[RESPONSE_COLUMNS.indexOf('metadata')] ?? '';
  if (UNSTORABLE_ESCAPE.test(metadata))
    reasons.push(
      'metadata: has a NUL character, or half of a surrogate pair, which Postgres cannot store',
    );
  return reasons.find((reason) => reason !== undefined);
}

/**
 * A response with its exact time, which is in the token if that has the older form: the platform
 * cuts times in JSON to milliseconds.
 */
export function withExactTime(response: JsonObject): JsonObject {
  const inToken = olderTokenTime(response['token']);
  const isSame = new Date(inToken ?? '').getTime() === Date.parse(String(response['timestamp']));
  return isSame ? { ...response, timestamp: inToken } : response;
}

/** The time of a token that is base64 of `timestamp,userid,question_ref`. */
export function olderTokenTime(token: unknown): string | undefined {
  if (typeof token !== 'string') return undefined;
  const [time = ''] = Buffer.from(token, 'base64').toString('latin1').split(',', 1);
  return timestamp.isValid(time) ? time : undefined;
}

/** Where a response stands, in words. */
export function placeOf(response: JsonObject): string {
  const names = ['timestamp', 'userid', 'question_ref'];
  return names.map((name) => `${name} ${shown(String(response[name]))}`).join(', ');
}

/** Follows the order of responses from page to page, so that it ends whatever a source sends. */
export function followOrder() {
  let newest: bigint | undefined;
  const seen = new Set<string>(); // of the newest time: the platform's pages can repeat rows
  return {
    /**
     * @returns the responses that are new
     * @throws UserError if there is none, or if a time decreases
     */
    take(responses: readonly JsonObject[]): JsonObject[] {
      const added = responses.filter((response) => {
        const time = parseInstant(String(response['timestamp']).replace(/[+-]\d\d$/, '$&:00'));
        if (time !== undefined && newest !== undefined && time < newest)
          throw new UserError(`the time decreases at ${placeOf(response)}`);
        if (time !== undefined && time !== newest) {
          newest = time;
          seen.clear();
        }

        const key = JSON.stringify(
          ['surveyid', 'userid', 'question_ref'].map((name) => response[name]),
        );
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });

      const last = responses.at(-1) ?? {};
      if (added.length === 0)
        throw new UserError(
          `the same page is repeated without end at ${placeOf(last)}: the platform cannot page past a userid or question_ref with a comma`,
        );
      if (seen.size > MAX_OF_ONE_TIME)
        throw new UserError(
          `more than ${MAX_OF_ONE_TIME} responses have one time at ${placeOf(last)}`,
        );
      return added;
    },
  };
}
