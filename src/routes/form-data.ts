import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { attachment, csvHeader } from '../csv/file.ts';
import { transcodePage } from '../csv/page.ts';
import { FORM_VERSION_COLUMNS, formVersionsQuery } from '../db/form-versions.ts';
import { hasResponses } from '../db/responses.ts';
import { findForms } from '../db/surveys.ts';
import { noResponses } from '../errors.ts';
import { surveyParam } from '../params.ts';

/** GET /responses/form-data: a survey's form versions, as a CSV file. */
export async function getFormData(c: Context<AppEnv>): Promise<Response> {
  const survey = surveyParam(c);
  const { db, account, signal } = c.var;

  const forms = await findForms(db, account.id, survey, signal);
  if (!(await hasResponses(db, forms, signal))) throw noResponses(survey, account.email);
  const page = await db.bytes(formVersionsQuery(account.id, survey), { signal }, (body) => transcodePage(body));

  const file = new Blob([csvHeader(FORM_VERSION_COLUMNS), page.csv]);
  return c.body(await file.arrayBuffer(), 200, attachment('form-data'));
}
