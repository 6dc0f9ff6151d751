import type { Grouping } from '../responses/grouping.ts';
import { RECORD } from './questions.ts';
import { metadataValue, seed } from './responses.ts';
import { type Sql, sql } from './sql.ts';

/** The most groups that are listed. */
const MAX_GROUPS = 20;

/**
 * SQL for the value that a record is grouped by.
 *
 * @returns `source`, what is read of each response; and on the rows of a record's cells, with these
 * sources, `value`: null in all but one
 */
export function groupSql({ name, key, arm }: Grouping): { source: Sql; value: Sql } {
  if (key === undefined && !arm)
    return { source: sql`null`, value: sql`case when column_name = ${name} then value end` };

  // The last response of a record is that of a cell.
  const ofLast = (value: Sql) => sql`
        case when row_number() over (
          partition by ${RECORD} order by timestamp desc, question_ref desc, surveyid desc
        ) = 1 then ${value} end`;
  if (!arm) return { source: metadataValue(key ?? '').sql, value: ofLast(sql`source`) };

  const hash = sql`farmhash_fingerprint32(source[2]::bigint, ${arm.hashes}::int)`;
  return {
    source: sql`array[${metadataValue(arm.name).sql}, ${seed.sql}]`,
    value: ofLast(sql`coalesce(source[1], (${hash} % ${arm.arms}::int + 1)::text)`),
  };
}

/**
 * Common table expressions, on the rows of {@link groupSql}, `cell`, whose records have numbers:
 * `grouped`, the values with their positions, `listed_group`, the most frequent ones, and `member`,
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
      select *, octet_length(listed) as bytes
      from (select *, ${listed(sql`group_value`)} as listed from grouped) one
      where position <= ${MAX_GROUPS}::int
    ), member as materialized (
      select record, position
      from cell join listed_group using (group_value)
    )`;

/**
 * Common table expressions, on those of {@link groupCtes} and of answers.ts: `tally`, how many
 * records of each group, null for none, have the value of each rank, or with null for a rank, any
 * value of a question; and `in_groups`, these numbers of the listed groups in order, zeros included,
 * as the elements of a JSON array.
 *
 * @param other the rank of all values that are not listed
 */
export const tallyCtes = (other: Sql): Sql => sql`
    tally as materialized (
      select ordinal, rank, position, sum(records) as records
      from (
        select ordinal, rank, position, 0 as records
        from (
          select ordinal, rank from value
          union all
          select ordinal, 0 from returned
        ) counted_once, listed_group
        union all
        select ordinal, coalesce(rank, ${other}), position, 1
        from cell full join member using (record)
          full join (select ordinal, value, rank from counted where rank < ${other}) ranked
            using (ordinal, value)
        where coalesce(is_returned, false)
      ) part
      group by ordinal, position, rollup (rank)
    ), in_groups as materialized (
      select ordinal, rank, string_agg(records::text, ',' order by position) as groups
      from tally
      where position is not null
      group by ordinal, rank
    )`;

/** The columns of JSON that describe the groups: `by`, `groups`, `ungrouped` and `other_groups`. */
export const groupColumns = ({ name }: Grouping): Sql => sql`,
      to_json(${name}::text)::text, (
        select '[' || coalesce(string_agg(
            concat('{"value":', to_json(listed), ',"records":', records, '}'), ',' order by position
          ), '') || ']'
        from listed_group
      ), (select records from record) - coalesce((select sum(records) from grouped), 0),
      (select coalesce(sum(records), 0) from grouped where position > ${MAX_GROUPS}::int)`;
