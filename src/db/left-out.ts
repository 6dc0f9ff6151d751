import type { Selection } from '../responses/selection.ts';
import { filterConditions } from './conditions.ts';
import { lacksMetadata } from './responses.ts';
import { type Sql, and, join, sql } from './sql.ts';

/** The parameters by which a wide file leaves out participants. */
export interface LeftOutOptions {
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly require_metadata?: readonly string[] | undefined;
}

/** The condition that a response's participant is not in the common table expression of {@link leftOutCte}. */
export const IS_KEPT = sql`not exists (select from left_out where left_out.userid = responses.userid)`;

/**
 * The common table expression `left_out`: the participants of a selection whom a wide file leaves out. It scans the whole
 * selection, first by form version, in the order of an index: to sort the responses would write their metadata to disk. Undefined if these parameters leave nobody out.
 */
export function leftOutCte(
  selection: Selection,
  { repeats, require_metadata: required = [] }: LeftOutOptions,
): Sql | undefined {
  const { formVersions } = selection;
  const reasons = [
    ...(repeats === 'drop' ? [sql`min(first_flow) < max(last_flow)`] : []),
    ...(required.length > 0 ? [sql`bool_or(lacks)`] : []),
  ];
  if (reasons.length === 0) return undefined;
  const ids = sql`${formVersions.map(({ id }) => id)}::uuid[]`;
  const shortcodes = formVersions.map(({ shortcode }) => shortcode);
  const where = [sql`surveyid = any(${ids})`, ...filterConditions(selection)];
  const lacks = required.length > 0 ? sql`bool_or(${lacksMetadata(required)(false)})` : sql`false`;
  return sql`
    left_out as materialized (
      select distinct userid
      from (
        select userid
        from (
          select surveyid, userid, min(flowid) as first_flow, max(flowid) as last_flow, ${lacks} as lacks
          from responses
          where ${and(where)}
          group by surveyid, userid
        ) version join unnest(${ids}, ${shortcodes}::text[]) form (id, shortcode) on form.id = surveyid
        group by userid, form.shortcode
        having ${join(reasons, ' or ')}
      ) participant
    )`;
}
