import type { KeyLimits } from '../auth/key-limits.ts';
import type { FormVersion, Survey } from '../responses/selection.ts';
import type { Database } from './database.ts';
import { formLimits, isOfSurvey, questionLimits, relationOf } from './relation.ts';
import { type Query, Value, and, isoTimestamp, join, sql } from './sql.ts';

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

/** A row's key in {@link surveysQuery}: its `created` and `id`. */
export const SURVEY_KEY = ['created', 'id'] as const;

/**
 * The form versions of an account that a key sees, newest first: the first ones after a key, or of
 * all.
 */
export function surveysQuery(
  accountId: string,
  limits: KeyLimits | null,
  rows: number,
  [created, id]: readonly string[] = [],
): Query {
  const limit = new Value(rows);
  const last = sql`${created ?? ''}::timestamptz`;
  const isAfter =
    id !== undefined && sql`and (s.created < ${last} or s.created = ${last} and s.id > ${id})`;
  const text = sql`
    select s.id::text, s.survey_name, s.shortcode, s.title, s.formid, ${isoTimestamp('s.created')}, s.metadata,
      s.translation_conf, ${isoTimestamp('t.off_time')}, t.timeouts
    from surveys s left join survey_settings t on t.surveyid = s.id
    where ${and([sql`s.userid = ${accountId}`, ...formLimits(limits)])} ${isAfter}
    order by s.created desc, s.id
    limit ${limit}`;
  return { text, width: SURVEY_COLUMNS.length, limit };
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

/** SQL for the form versions of a survey. Versions count from 1 within a shortcode. */
export const formDataSql = (survey: Survey) => sql`
  select id, shortcode, survey_name,
    row_number() over (partition by shortcode order by created, id) as version,
    ${isoTimestamp('created')} as survey_created, metadata
  from surveys
  where ${isOfSurvey(survey)}`;

/** A row's key in {@link formDataQuery}. */
export const FORM_DATA_KEY = ['shortcode', 'survey_created', 'surveyid'] as const;

/** The form versions of a survey: the first ones after a key, or of all. */
export function formDataQuery(survey: Survey, rows: number, after: readonly string[] = []): Query {
  const limit = new Value(rows);
  const key = join(after.map((value) => sql`${value}`));
  const isAfter =
    after.length > 0 && sql`where (shortcode, survey_created::timestamptz, id) > (${key})`;
  const text = sql`
    select id::text, shortcode, survey_name, version, survey_created, metadata
    from (${formDataSql(survey)}) form
    ${isAfter}
    order by shortcode, version
    limit ${limit}`;
  return { text, width: FORM_DATA_COLUMNS.length, limit };
}

/** SQL for the form versions of a survey, as JSON: `[[id, shortcode], …]`. */
const formVersionsJson = (survey: Survey) => sql`
  (
    select coalesce(json_agg(json_build_array(id, shortcode) order by id), '[]')::text
    from surveys
    where ${isOfSurvey(survey)}
  )`;

/** The largest list of form versions, in bytes: some 25,000. */
const MAX_FORM_VERSIONS_BYTES = 2 * 1024 * 1024;

async function readFormVersions(db: Database, survey: Survey): Promise<string> {
  const query = { text: sql`select ${formVersionsJson(survey)}`, width: 1 };
  const [[json]] = (await db.rows(query, { maxBytes: MAX_FORM_VERSIONS_BYTES })) as [[string]];
  return json;
}

const parseFormVersions = (json: string): FormVersion[] =>
  (JSON.parse(json) as [string, string][]).map(([id, shortcode]) => ({ id, shortcode }));

/** Finds a survey. @returns its form versions; empty if there is no such survey */
export const findSurvey = async (db: Database, survey: Survey): Promise<FormVersion[]> =>
  parseFormVersions(await readFormVersions(db, survey));

/**
 * The form versions of the surveys that this isolate has read, as JSON, by account, name and
 * limits; the latest last. Requests share them.
 */
const remembered = new Map<string, string>();
const MAX_REMEMBERED_BYTES = 4 * 1024 * 1024;
/** With a longer list in its last row, a small result would not be small. */
const MAX_LIST_LENGTH = 64 * 1024;

function remember(key: string, json: string): void {
  remembered.delete(key);
  if (json !== '[]' && json.length <= MAX_LIST_LENGTH) remembered.set(key, json);

  let bytes = 0;
  for (const [other, list] of [...remembered].toReversed()) {
    bytes += other.length + list.length;
    if (bytes > MAX_REMEMBERED_BYTES) remembered.delete(other);
  }
}

/**
 * Finds a survey and reads from it. If this isolate has read the survey before, `read` starts with
 * the form versions that it had, and its first query checks them: if they have changed, `read` is
 * called again with the present ones.
 *
 * @param read gets the form versions, none if there is no such survey, and the database for its
 * queries, the first of which must have ended before it sends another
 * @throws DatabaseError, LimitError, the signal's reason, or an error of `read`
 */
export async function withSurvey<T>(
  db: Database,
  survey: Survey,
  read: (formVersions: readonly FormVersion[], db: Database) => Promise<T>,
): Promise<T> {
  const key = JSON.stringify(survey);
  const known = remembered.get(key);
  let present = undefined as string | undefined;
  const forms: Query['forms'] = {
    sql: formVersionsJson(survey),
    check(json) {
      present = json;
      if (json !== known) throw new Error('the form versions of a survey have changed');
    },
  };
  const checked = (query: Query): Query => (present === undefined ? { ...query, forms } : query);

  if (known !== undefined) {
    try {
      return await read(parseFormVersions(known), {
        rows: (query, options) => db.rows(checked(query), options),
        page: (query, options, encode) => db.page(checked(query), options, encode),
      });
    } catch (error) {
      if (present === undefined || present === known) throw error;
    }
  }
  present ??= await readFormVersions(db, survey);
  remember(key, present);
  return read(parseFormVersions(present), db);
}

/**
 * Whether a survey has responses, to any form version. If questions are hidden, it may have to walk
 * past all their responses.
 */
export async function hasResponses(db: Database, survey: Survey): Promise<boolean> {
  const responses = relationOf({ survey });
  const text = sql`
    with ${responses.forms}
    select id::text from form, lateral (select from ${responses.to(sql`form.id`)} limit 1) response
    limit 1`;
  const kind = questionLimits(survey.limits).length > 0 ? 'walk' : 'quick';
  const rows = await db.rows({ text, width: 1 }, { kind });
  return rows.length > 0;
}
