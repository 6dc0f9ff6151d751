import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { SURVEY_FIELDS, listSurveys } from '../db/surveys.ts';
import { jsonObject } from '../json.ts';

/** GET /surveys: every form version of the account, newest first. */
export async function getSurveys(c: Context<AppEnv>): Promise<Response> {
  const rows = await listSurveys(c.var.db, c.var.account.id, c.var.signal);
  const objects = rows.map((row) => jsonObject(SURVEY_FIELDS, row));
  return c.body(`[${objects.join(',')}]`, 200, { 'Content-Type': 'application/json' });
}
