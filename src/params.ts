import type { Context } from 'hono';
import { type Cursor, decodeCursor } from './cursor.ts';
import { badParameter, missingSurvey } from './errors.ts';

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 10_000;

/** The name of the survey asked for, decoded once. @throws ApiError 400 when it is missing or empty */
export function surveyParam(c: Context): string {
  const name = c.req.query('survey');
  if (!name) throw missingSurvey();
  return name;
}

/** Never clamped: clients stop paging at a page shorter than they asked for. @throws ApiError 400 */
export function pageSizeParam(c: Context): number {
  const text = c.req.query('pageSize');
  if (text === undefined) return DEFAULT_PAGE_SIZE;
  const size = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (size < 1 || size > MAX_PAGE_SIZE) throw badParameter('pageSize', `an integer from 1 to ${MAX_PAGE_SIZE}`);
  return size;
}

/** @throws ApiError 400 for a token that is none: never an empty page, which would look like the end */
export function afterParam(c: Context): Cursor | undefined {
  const token = c.req.query('after');
  if (token === undefined) return undefined;
  const cursor = decodeCursor(token);
  if (!cursor) throw badParameter('after', 'the token of a response, as an earlier page gave it');
  return cursor;
}
