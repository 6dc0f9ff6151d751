import type { FormVersion } from '../responses/selection.ts';
import type { Database, Query } from './client.ts';
import { checkColumn, isoTimestamp } from './sql.ts';

/** The columns of {@link surveysQuery}, in order. */
export const SURVEY_COLUMNS = [
  'id',
  'survey_name',
  'shortcode',
  'title',
  'formid',
  'created',
  'metadata',
  'translation_conf',
  'off_time',
  'timeouts',
] as const;

/** All form versions of an account, newest first. */
export function surveysQuery(accountId: string): Query {
  const text = `
    select s.id, s.survey_name, s.shortcode, s.title, s.formid, ${isoTimestamp('s.created')}, s.metadata,
      s.translation_conf, ${isoTimestamp('t.off_time')}, t.timeouts, ${checkColumn()}
    from surveys s left join survey_settings t on t.surveyid = s.id
    where s.userid = $1
    order by s.created desc, s.id`;
  return { text, params: [accountId], columns: SURVEY_COLUMNS.length + 1 };
}

/** The columns of {@link formDataQuery}, in order. */
export const FORM_DATA_COLUMNS = [
  'surveyid',
  'shortcode',
  'survey_name',
  'version',
  'survey_created',
  'metadata',
] as const;

/** The form versions of an account's survey. Versions count from 1 within a shortcode. */
export function formDataQuery(accountId: string, surveyName: string): Query {
  const text = `
    select id, shortcode, survey_name,
      row_number() over (partition by shortcode order by created, id) as version,
      ${isoTimestamp('created')} as survey_created, metadata, ${checkColumn()}
    from surveys
    where userid = $1 and survey_name = $2
    order by shortcode, version`;
  return { text, params: [accountId, surveyName], columns: FORM_DATA_COLUMNS.length + 1 };
}

/** Finds an account's survey. @returns its form versions; empty if there is no such survey */
export async function findSurvey(
  db: Database,
  accountId: string,
  surveyName: string,
  signal: AbortSignal,
): Promise<FormVersion[]> {
  if (surveyName.includes('\0')) return []; // Postgres rejects text with NUL
  const text = `
    select id, shortcode, ${checkColumn()}
    from surveys
    where userid = $1 and survey_name = $2
    order by id`;
  const read = () => db.rows({ text, params: [accountId, surveyName], columns: 3 }, { signal });
  let rows = await read();
  if (rows.length === 0) rows = await read(); // a result that lost all its rows would look like an unknown survey
  return (rows as [string, string][]).map(([id, shortcode]) => ({ id, shortcode }));
}

/** Whether an account's survey has responses, to any form version. */
export async function hasResponses(
  db: Database,
  accountId: string,
  surveyName: string,
  signal: AbortSignal,
): Promise<boolean> {
  const text = `
    select ${checkColumn('1')}
    from surveys s cross join lateral (select from responses where surveyid = s.id limit 1) r
    where s.userid = $1 and s.survey_name = $2
    limit 1`;
  const rows = await db.rows({ text, params: [accountId, surveyName], columns: 1 }, { signal });
  return rows.length > 0;
}
