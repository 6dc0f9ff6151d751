import { FILTERS, FILTER_NAMES, type Filters } from '../responses/filters.ts';
import type { FormVersion, Survey } from '../responses/selection.ts';
import { formatInstant } from '../responses/timestamp.ts';
import { type Sql, and, raw, sql } from './sql.ts';

/** The responses that a statement can read. */
export interface Relation {
  /**
   * The common table expression `form`: `id`, `shortcode` and `created` of the form versions. A form version that left the
   * account or the survey after it was found is not among them: a statement reads it as if it had been deleted.
   */
  readonly forms: Sql;
  /**
   * What follows FROM to read the responses to a form version that meet some conditions.
   *
   * @param form SQL for its id, from `form`
   */
  readonly to: (form: Sql, conditions: readonly Sql[]) => Sql;
  /** Likewise, for all form versions in one scan. */
  readonly all: (conditions: readonly Sql[]) => Sql;
}

/**
 * Makes SQL for the responses of a survey, whose account is checked in every statement. Nothing else names their table.
 *
 * @param formVersions those to read, with the shortcodes that they had when they were found; all unless given
 */
export function relationOf({
  survey: { accountId, name },
  formVersions,
}: {
  readonly survey: Survey;
  readonly formVersions?: readonly FormVersion[];
}): Relation {
  const isOwn = sql`userid = ${accountId} and survey_name = ${name}`;
  const ids = formVersions?.map(({ id }) => id) ?? [];
  const shortcodes = formVersions?.map(({ shortcode }) => shortcode) ?? [];
  const forms = formVersions
    ? sql`
      select id, shortcode, created
      from unnest(${ids}::uuid[], ${shortcodes}::text[]) version (id, shortcode), lateral (
        select created from surveys where surveys.id = version.id and (${isOwn}) is true offset 0
      ) survey`
    : sql`select id, shortcode, created from surveys where ${isOwn}`;
  // As a filter (`is true`), since Postgres can estimate the number of rows from the ids, but not from the result of a query.
  const isInForm = sql`(surveyid in (select id from form)) is true`;
  return {
    forms: sql`form as materialized (${forms})`,
    to: (form, conditions) => sql`responses where ${and([sql`surveyid = ${form}`, ...conditions])}`,
    all: (conditions) => sql`responses where ${and([sql`surveyid = any(${ids}::uuid[])`, isInForm, ...conditions])}`,
  };
}

/** SQL for filters. Column names are not qualified: they must be unambiguous in every query. */
export const filterConditions = (filters: Filters): Sql[] =>
  FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const { column, operator } = FILTERS[name];
    const compared = raw(`${column} ${operator}`);
    return typeof value === 'bigint'
      ? sql`${compared} ${formatInstant(value)}::timestamptz`
      : sql`${compared} any(${value})`;
  });
