import type { KeyLimits } from '../auth/key-limits.ts';
import type { FormVersion, Survey } from '../responses/selection.ts';
import { type Database, withSignal } from './client.ts';
import { suppressUnhandledRejection } from '../unhandled-rejection.ts';
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
    id === undefined
      ? sql``
      : sql`and (s.created < ${last} or s.created = ${last} and s.id > ${id})`;
  const text = sql`
    select s.id, s.survey_name, s.shortcode, s.title, s.formid, ${isoTimestamp('s.created')}, s.metadata,
      s.translation_conf, ${isoTimestamp('t.off_time')}, t.timeouts
    from surveys s left join survey_settings t on t.surveyid = s.id
    where ${and([sql`s.userid = ${accountId}`, ...formLimits(limits)])} ${isAfter}
    order by s.created desc, s.id
    limit ${limit}`;
  return { text, limit };
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
    after.length > 0 ? sql`where (shortcode, survey_created::timestamptz, id) > (${key})` : sql``;
  const text = sql`
    select *
    from (${formDataSql(survey)}) form
    ${isAfter}
    order by shortcode, version
    limit ${limit}`;
  return { text, limit };
}

/** Finds a survey. @returns its form versions; empty if there is no such survey */
export async function findSurvey(db: Database, survey: Survey): Promise<FormVersion[]> {
  if (survey.name.includes('\0')) return []; // Postgres rejects text with NUL
  const text = sql`
    select id, shortcode
    from surveys
    where ${isOfSurvey(survey)}
    order by id`;
  const rows = await db.rows({ text }, { keep: true });
  return (rows as [string, string][]).map(([id, shortcode]) => ({ id, shortcode }));
}

/**
 * The form versions of the surveys that this isolate has read, by account, name and limits; the
 * latest last. Requests share them.
 */
const remembered = new Map<
  string,
  { readonly formVersions: readonly FormVersion[]; readonly bytes: number }
>();
const MAX_REMEMBERED_BYTES = 4 * 1024 * 1024;
/** What a form version takes besides its shortcode: two strings and an object. */
const FORM_VERSION_BYTES = 160;
let rememberedBytes = 0;

function remember(key: string, formVersions: readonly FormVersion[]): void {
  forget(key);
  if (formVersions.length === 0) return;
  const bytes = formVersions.reduce(
    (sum, { shortcode }) => sum + FORM_VERSION_BYTES + shortcode.length,
    key.length,
  );
  remembered.set(key, { formVersions, bytes });
  rememberedBytes += bytes;
  for (const oldest of remembered.keys()) {
    if (rememberedBytes <= MAX_REMEMBERED_BYTES) return;
    forget(oldest);
  }
}

function forget(key: string): void {
  rememberedBytes -= remembered.get(key)?.bytes ?? 0;
  remembered.delete(key);
}

const areEqual = (some: readonly FormVersion[], others: readonly FormVersion[]) =>
  some.length === others.length &&
  some.every(({ id, shortcode }, i) => id === others[i]?.id && shortcode === others[i]?.shortcode);

/**
 * Finds a survey and reads from it, at the same time if this isolate has read the survey before:
 * `read` then starts with the form versions that it had. If these turn out to have changed, that
 * read is aborted and its result or error is discarded, and `read` is called again.
 *
 * @param read gets the form versions, none if there is no such survey, and the database for its
 * queries
 * @throws DatabaseError, LimitError, the signal's reason, or an error of `read`
 */
export async function withSurvey<T>(
  db: Database,
  survey: Survey,
  signal: AbortSignal,
  read: (formVersions: readonly FormVersion[], db: Database) => Promise<T>,
): Promise<T> {
  const key = JSON.stringify(survey);
  const earlier = remembered.get(key)?.formVersions;
  const discarding = new AbortController();
  const early =
    earlier &&
    suppressUnhandledRejection(
      read(earlier, withSignal(db, AbortSignal.any([signal, discarding.signal]))),
    );
  try {
    const found = await findSurvey(db, survey);
    const isUnchanged = early && areEqual(earlier, found);
    remember(key, isUnchanged ? earlier : found);
    if (isUnchanged) return await early;
    discarding.abort();
    return await read(found, db);
  } catch (error) {
    discarding.abort(error);
    throw error;
  }
}

/**
 * Whether a survey has responses, to any form version. If questions are hidden, it may have to walk
 * past all their responses.
 */
export async function hasResponses(db: Database, survey: Survey): Promise<boolean> {
  const responses = relationOf({ survey });
  const text = sql`
    with ${responses.forms}
    select id from form, lateral (select from ${responses.to(sql`form.id`, [])} limit 1) response
    limit 1`;
  const retry = questionLimits(survey.limits).length > 0 ? 'scan' : 'request';
  const rows = await db.rows({ text }, { retry });
  return rows.length > 0;
}
