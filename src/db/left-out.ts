import type { Selection } from '../responses/selection.ts';
import { filterConditions, relationOf } from './relation.ts';
import { lacksMetadata } from './responses.ts';
import { type Sql, join, sql } from './sql.ts';

/** The parameters by which a wide file leaves out participants. */
export interface LeftOutOptions {
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly require_metadata?: readonly string[] | undefined;
}

/** SQL for leaving out the participants of a selection whom a wide file leaves out. */
export interface LeftOut {
  /** Common table expressions, on `form` (see relation.ts): `left_out`, or none if these parameters leave nobody out. */
  readonly ctes: readonly Sql[];
  /** The conditions that a response's participant is kept. */
  readonly isKept: readonly Sql[];
  /** How many participants are left out. */
  readonly count: Sql;
}

/**
 * Finds those participants with a scan of the whole selection, first by form version, in the order of an index: to sort the
 * responses would write their metadata to disk.
 */
export function leftOut(selection: Selection, { repeats, require_metadata: required = [] }: LeftOutOptions): LeftOut {
  const reasons = [
    ...(repeats === 'drop' ? [sql`min(first_flow) < max(last_flow)`] : []),
    ...(required.length > 0 ? [sql`bool_or(lacks)`] : []),
  ];
  if (reasons.length === 0) return { ctes: [], isKept: [], count: sql`0` };
  const lacks = required.length > 0 ? sql`bool_or(${lacksMetadata(required)(false)})` : sql`false`;
  const cte = sql`
    left_out as materialized (
      select distinct userid
      from (
        select userid
        from (
          select surveyid, userid, min(flowid) as first_flow, max(flowid) as last_flow, ${lacks} as lacks
          from ${relationOf(selection).all(filterConditions(selection))}
          group by surveyid, userid
        ) version join form on form.id = surveyid
        group by userid, form.shortcode
        having ${join(reasons, ' or ')}
      ) participant
    )`;
  return {
    ctes: [cte],
    isKept: [sql`not exists (select from left_out where left_out.userid = responses.userid)`],
    count: sql`(select count(*) from left_out)`,
  };
}
