import { parseArm } from '../responses/arm.ts';
import { RECORD } from './questions.ts';
import { metadataValue, seed } from './responses.ts';
import { type Sql, sql } from './sql.ts';

/**
 * SQL for the value that a record is grouped by.
 *
 * @param by the name of a column: `metadata.<key>`, `arm.<name>`, or a question's
 * @returns `source`, what is read of each response; and on the rows of a record's cells, with these
 * sources, `value`: null in all but one
 */
export function groupSql(by: string): { source: Sql; value: Sql } {
  const [, prefix, name = ''] = /^(metadata|arm)\.(.*)/s.exec(by) ?? [];
  if (!prefix)
    return { source: sql`null`, value: sql`case when column_name = ${by} then value end` };

  const stored = metadataValue(name).sql;
  const arm = prefix === 'arm' ? parseArm(name) : undefined;
  const value = arm
    ? sql`coalesce(source[1], (
            farmhash_fingerprint32(source[2]::bigint, ${arm.hashes}::int) % ${arm.arms}::int + 1
          )::text)`
    : sql`source`;
  return {
    source: arm ? sql`array[${stored}, ${seed.sql}]` : stored,
    // The last response of a record is that of a cell.
    value: sql`
        case when row_number() over (
          partition by ${RECORD} order by timestamp desc, question_ref desc, surveyid desc
        ) = 1 then ${value} end`,
  };
}

/**
 * Common table expressions, on the rows of {@link groupSql}, `cell`, whose records have numbers:
 * `grouped`, the values with their positions; `listed_group`, the most frequent ones; and `member`,
 * the records in these.
 *
 * @param listed SQL for a value as it is returned
 */
export const groupCtes = (listed: (value: Sql) => Sql): Sql => sql`
    grouped as materialized (
      select group_value, count(*) as records,
        row_number() over (order by count(*) desc, group_value collate "C") as position
      from cell
      where group_value is not null
      group by group_value
    ), listed_group as materialized (
      select *, ${listed(sql`group_value`)} as value from grouped where position <= 20
    ), member as materialized (
      select record, position from cell join listed_group using (group_value)
    ),`;

/** SQL for the group at a position. */
export const GROUP = sql`(select array_agg(value order by position) from listed_group)[position::int]`;

/** SQL for the numbers in all groups, as JSON, given `in_groups`, those that are not 0. */
export const IN_GROUPS = sql`(
  select string_agg(coalesce(in_groups->>position::text, '0'), ',' order by position)
  from listed_group
)`;

/** The columns of JSON that describe the groups: `by`, `groups`, `ungrouped` and `other_groups`. */
export const groupColumns = (by: string): Sql => sql`,
      to_json(${by}::text)::text, (
        select concat('[', string_agg(
            concat('{"value":', to_json(value), ',"records":', records, '}'), ',' order by position
          ), ']')
        from listed_group
      ), (select coalesce(max(record), 0) from cell) - (select coalesce(sum(records), 0) from grouped),
      (select coalesce(sum(records), 0) from grouped where position > 20)`;
