import { type Sql, join, raw, sql } from './sql.ts';

/** SQL for whether a text is a decimal number of at most 15 digits, which a double holds exactly. */
export const isNumber = (text: Sql): Sql => sql`${text} ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?$'
          and length(translate(${text}, '-.', '')) <= 15`;

/** The most bins of a question's numbers. */
const MAX_BINS = 20;

/** SQL for the number at a place among the sorted numbers of a question, in quarters of places. */
const numberAt = (quarters: Sql) => sql`min(number) filter (where upto > (${quarters}) / 4)`;

/** SQL for a quartile, interpolated linearly between the two numbers next to its place. */
function quartile(quarter: number): Sql {
  const place = sql`(n - 1) * ${raw(String(quarter))}`;
  const low = numberAt(place);
  const high = numberAt(sql`${place} + 3`);

  return sql`${low} + (${high} - ${low}) * (${place} % 4) * 0.25`;
}

/** The decimals of a question that are members of their own, in order. */
const DECIMALS = ['min', 'q1', 'median', 'q3', 'max', 'sum'];

/**
 * Common table expressions, on `counted` (see answers.ts): `question_numbers`, for each `ordinal`
 * with cells that are numbers their distribution, as JSON `numbers`.
 *
 * Everything is exact: decimals are of type numeric, and are multiplied by a step's inverse, since a
 * quotient would be rounded. Numbers have at most 15 digits, so that a step need be no smaller than
 * 1e-14, and no larger than 1e14.
 */
export const NUMBER_CTES: Sql = sql`
    candidate as materialized (
      select (step || 'e' || power)::numeric as step, (inverse || 'e' || -power)::numeric as inverse
      from generate_series(-14, 14) power,
        (values ('1', '1'), ('2', '0.5'), ('5', '0.2')) digit (step, inverse)
    ), number as materialized (
      select ordinal, number, records,
        (sum(records) over (
          partition by ordinal order by number rows unbounded preceding
        ))::bigint as upto,
        (sum(records) over (partition by ordinal))::bigint as n
      from (
        select ordinal, records, case when ${isNumber(sql`value`)} then value::numeric end as number
        from counted
      ) decimal
      where number is not null
    ), spread as (
      select ordinal, n, min(number), max(number), sum(number * records),
        ${quartile(1)} as q1, ${quartile(2)} as median, ${quartile(3)} as q3,
        ('1e-' || max(min_scale(number)))::numeric as unit
      from number
      group by ordinal, n
    ), histogram as materialized (
      select *
      from spread left join lateral (
        select step, inverse
        from candidate
        where min < max and step >= unit
          and floor(max * inverse) - floor(min * inverse) < ${raw(String(MAX_BINS))}
        order by step
        limit 1
      ) smallest on true
    ), bin as (
      select ordinal, multiple, sum(records) as records
      from (
        select ordinal, coalesce(floor(number * inverse), 0) as multiple, records
        from number full join histogram using (ordinal)
        union all
        select ordinal, generate_series(floor(min * inverse), floor(max * inverse)), 0
        from histogram
      ) part
      group by ordinal, multiple
    ), question_numbers as (
      select ordinal, concat(
          '{"records":', n,
          ${join(DECIMALS.map((name) => raw(`',"${name}":"', trim_scale(${name}), '"'`)))},
          ',"step":', coalesce('"' || trim_scale(step) || '"', 'null'),
          ',"bins":[', string_agg(
            concat(
              '{"from":"', trim_scale(coalesce(multiple * step, min)), '","records":', records, '}'
            ), ',' order by multiple
          ), ']}'
        ) as numbers
      from histogram full join bin using (ordinal)
      group by ordinal, n, ${raw(DECIMALS.join(', '))}, step
    )`;
