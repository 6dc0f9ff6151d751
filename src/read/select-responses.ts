import type { Context } from 'hono';
import { countQuery } from '../db/branches.ts';
import type { Database } from '../db/database.ts';
import { findParticipants } from '../db/participants.ts';
import { readCount } from '../db/responses.ts';
import { findSurvey, hasResponses, withSurvey } from '../db/surveys.ts';
import type { ExportFile } from '../formats/file-format.ts';
import type { AppEnv } from '../http/context.ts';
import { ifTooLarge, noResponses } from '../http/errors.ts';
import type { Values } from '../http/parameters.ts';
import { isStorable } from '../responses/cursor.ts';
import type { FilterName } from '../responses/filters.ts';
import { type FormVersion, type Selection, type Survey, select } from '../responses/selection.ts';
import { type PageKind, isWalk, pageReader } from './page-reader.ts';

/** The parameters that all endpoints under `/responses` share. */
export type ResponsesQuery = Values<'survey' | 'missing'> &
  Partial<Values<FilterName | 'after' | 'count'>>;

/**
 * The survey of the caller's account that a query names, as the caller's key sees it.
 *
 * @throws ApiError `no responses` for a name that Postgres cannot store
 */
export function surveyOf(c: Context<AppEnv>, query: Values<'survey' | 'missing'>): Survey {
  const { id: accountId, email, limits } = c.var.account;
  if (!isStorable(query.survey)) throw noResponses(query, email);
  return { accountId, name: query.survey, limits };
}

/** @throws ApiError `no responses` unless the caller's account has the survey */
export async function selectResponses(
  c: Context<AppEnv>,
  query: ResponsesQuery,
): Promise<Selection> {
  const { db } = c.var;
  return selectFrom(c, query, await findSurvey(db, surveyOf(c, query)), db);
}

/**
 * Finds the responses that a query selects, reads the first of them, and counts all if the query
 * requests it.
 *
 * @param prepare determines what depends on the selection. May be called twice: see
 * {@link withSurvey}.
 * @param limit the number of responses to read
 * @param takeSlot takes the slot for the pages, which the request keeps
 * @throws ApiError if the survey has no responses
 */
export async function readFirst<File extends Pick<ExportFile, 'format' | 'rowTooLarge' | 'total'>>(
  c: Context<AppEnv>,
  query: ResponsesQuery,
  prepare: (selection: Selection, db: Database) => File | Promise<File>,
  limit: number,
  takeSlot: (isWalk: boolean) => Promise<PageKind>,
) {
  const { db, slots } = c.var;
  const { after } = query;
  const begun = await withSurvey(db, surveyOf(c, query), async (formVersions, reading) => {
    const selection = await selectFrom(c, query, formVersions, reading);
    const file = await prepare(selection, reading);
    const { format, rowTooLarge } = file;
    const count = countQuery(selection, after, format.order);
    const total = query.count ? (file.total ?? (await readCount(reading, count))) : undefined;

    const kind = await takeSlot(isWalk(selection, format));
    const reader = pageReader(reading, selection, format, kind);
    const first = await reader.first({ after, limit }).catch(ifTooLarge(rowTooLarge));
    return { file, reader, first, total };
  });
  if (begun.first.rowCount === 0) {
    slots.release('walk', 'quick', 'large'); // since this may take another
    await requireResponses(c, query);
  }
  return begun;
}

/** @throws ApiError `no responses` unless there are form versions */
async function selectFrom(
  c: Context<AppEnv>,
  query: ResponsesQuery,
  formVersions: readonly FormVersion[],
  db: Database,
): Promise<Selection> {
  const { account } = c.var;
  if (formVersions.length === 0) throw noResponses(query, account.email);
  const survey = surveyOf(c, query);
  const userid = await findParticipants(db, survey, formVersions, query.userid);
  return select(survey, formVersions, { ...query, userid });
}

/**
 * @throws ApiError `no responses` unless the caller's survey has a response, filtered out or not,
 * or need not have one
 */
export async function requireResponses(c: Context<AppEnv>, query: ResponsesQuery): Promise<void> {
  const { account, db } = c.var;
  if (query.missing === '404' || (await hasResponses(db, surveyOf(c, query)))) return;
  throw noResponses(query, account.email);
}
