import type { Query } from './client.ts';
import { isoTimestamp } from './sql.ts';

/** The columns of {@link formVersionsQuery}, in order. */
export const FORM_VERSION_COLUMNS = [
  'surveyid',
  'shortcode',
  'survey_name',
  'version',
  'survey_created',
  'metadata',
] as const;

/** One row per form version of an account's survey; versions count from 1 within a shortcode. */
export function formVersionsQuery(accountId: string, surveyName: string): Query {
  const text = `
    select id as surveyid, shortcode, survey_name,
      row_number() over (partition by shortcode order by created, id) as version,
      ${isoTimestamp('created')} as survey_created, metadata
    from surveys where userid = $1 and survey_name = $2
    order by shortcode, version`;
  return { text, params: [accountId, surveyName], columns: FORM_VERSION_COLUMNS.length };
}
