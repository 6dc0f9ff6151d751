import type { Database, Query, Row } from './client.ts';
import { isoTimestamp } from './sql.ts';
import { rowVersion, versionQuery } from './row-versions.ts';

/** One version of one form of a survey. */
export interface Form {
  /** Lower-case UUID, the responses' `surveyid`. */
  readonly id: string;
  readonly shortcode: string;
}

/** The columns of {@link listSurveys}, in order, and how each goes into JSON. */
export const SURVEY_FIELDS = [
  ['id', 'string'],
  ['survey_name', 'string'],
  ['shortcode', 'string'],
  ['title', 'string'],
  ['formid', 'string'],
  ['created', 'string'],
  ['metadata', 'json'],
  ['translation_conf', 'json'],
  ['off_time', 'string'],
  ['timeouts', 'json'],
] as const;

const VERSION = rowVersion('s.xmin, s.id, t.xmin');
const FORMS = 'from surveys s left join survey_settings t on t.surveyid = s.id where s.userid = $1';

/** All form versions of an account, newest first; each with its version as the last column. */
export function listSurveys(db: Database, accountId: string, signal: AbortSignal): Promise<Row[]> {
  const text = `
    select s.id, s.survey_name, s.shortcode, s.title, s.formid, ${isoTimestamp('s.created')}, s.metadata,
      s.translation_conf, ${isoTimestamp('t.off_time')}, t.timeouts, ${VERSION}
    ${FORMS}
    order by s.created desc, s.id`;
  return db.rows({ text, params: [accountId], columns: SURVEY_FIELDS.length + 1 }, { signal });
}

/** For the version of {@link listSurveys}. */
export function surveysVersionQuery(accountId: string): Query {
  const rows = { text: `select ${VERSION} as version, s.created, s.id ${FORMS}`, params: [accountId] };
  return versionQuery(rows, 'created desc, id');
}

/** The form versions that make up an account's survey; empty when the account has no survey of this name. */
export async function findForms(db: Database, accountId: string, name: string, signal: AbortSignal): Promise<Form[]> {
  if (name.includes('\0')) return []; // Postgres text cannot hold a NUL, and would not even look
  const text = `select id, shortcode from surveys where userid = $1 and survey_name = $2 order by id`;
  const rows = await db.rows({ text, params: [accountId, name], columns: 2 }, { signal });
  return (rows as [string, string][]).map(([id, shortcode]) => ({ id, shortcode }));
}
