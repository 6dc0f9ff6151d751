import type { Context } from 'hono';
import { findSurvey, hasResponses } from '../db/surveys.ts';
import type { AppEnv } from '../http/context.ts';
import { noResponses } from '../http/errors.ts';
import type { Values } from '../http/parameters.ts';
import type { FilterName } from '../responses/filters.ts';
import { type FormVersion, type Selection, select } from '../responses/selection.ts';

/** The parameters that all endpoints under `/responses` share. */
export type ResponsesQuery = Values<'survey'> & Partial<Values<FilterName | 'after' | 'count'>>;

/** @throws ApiError `no responses` unless the caller's account has the survey */
export async function selectResponses(c: Context<AppEnv>, query: ResponsesQuery): Promise<Selection> {
  const { account, db, signal } = c.var;
  return selectFrom(c, query, await findSurvey(db, account.id, query.survey, signal));
}

/** @throws ApiError `no responses` unless there are form versions */
export function selectFrom(c: Context<AppEnv>, query: ResponsesQuery, formVersions: readonly FormVersion[]): Selection {
  const { id: accountId, email } = c.var.account;
  if (formVersions.length === 0) throw noResponses(query.survey, email);
  return select({ accountId, name: query.survey }, formVersions, query);
}

/** @throws ApiError `no responses` unless the caller's survey has a response, filtered out or not */
export async function requireResponses(c: Context<AppEnv>, surveyName: string): Promise<void> {
  const { account, db, signal } = c.var;
  if (!(await hasResponses(db, account.id, surveyName, signal))) throw noResponses(surveyName, account.email);
}
