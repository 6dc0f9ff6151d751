import { type Sql, raw, sql } from './sql.ts';

/** SQL for whether a text is a decimal number of at most 15 digits, which a double holds exactly. */
export const isNumber = (text: Sql): Sql => sql`${text} ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?$'
          and length(translate(${text}, '-.', '')) <= 15`;

/** SQL for a quartile, interpolated linearly between the numbers next to its place. */
const quartile = (quarter: string) => {
  const away = raw(`abs(4 * place - ${quarter} * last)`);
  return sql`sum(number * (4 - ${away})) filter (where ${away} < 4) * 0.25`;
};

/** The decimals of a question that are members of their own, in order. */
const DECIMALS = ['min', 'q1', 'median', 'q3', 'max', 'sum'];

/**
 * Common table expressions, on `cell` (see answers.ts): `question_numbers`, for each `ordinal` with
 * cells that are numbers their distribution, as JSON `numbers`.
 *
 * Everything is exact: decimals are of type numeric, and are multiplied by a step's inverse, since a
 * quotient would be rounded. Numbers have at most 15 digits, so that a step need be no smaller than
 * 1e-14, and no larger than 1e14.
 */
export const NUMBER_CTES: Sql = sql`
    number as materialized (
      select *, row_number() over (partition by ordinal order by number) - 1 as place,
        count(*) over (partition by ordinal) - 1 as last
      from (
        select ordinal, case when ${isNumber(sql`value`)} then value::numeric end as number
        from cell
        where is_returned
      ) decimal
      where number is not null
    ), histogram as materialized (
      select *
      from (
        select ordinal, last + 1 as records, min(number), max(number), sum(number),
          ${quartile('1')} as q1, ${quartile('2')} as median, ${quartile('3')} as q3,
          max(min_scale(number)) as scale
        from number
        group by ordinal, last
      ) spread left join lateral (
        select step, inverse
        from (
          select (digit || 'e' || power)::numeric as step,
            (10 / digit || 'e' || -1 - power)::numeric as inverse
          from generate_series(-scale, 14) power, unnest('{1, 2, 5}'::int[]) digit
        ) candidate
        where min < max and floor(max * inverse) - floor(min * inverse) < 20
        order by step
        limit 1
      ) smallest on true
    ), bin as (
      select ordinal, multiple, count(number)
      from (
        select ordinal, coalesce(floor(number * inverse), 0) as multiple, number
        from number full join histogram using (ordinal)
        union all
        select ordinal, generate_series(floor(min * inverse), floor(max * inverse)), null
        from histogram
      ) one
      group by ordinal, multiple
    ), question_numbers as (
      select ordinal, concat(
          '{"records":', records, ${raw(DECIMALS.map((name) => `',"${name}":"', trim_scale(${name}), '"'`).join())},
          ',"step":', coalesce('"' || trim_scale(step) || '"', 'null'), ',"bins":[', string_agg(
            concat(
              '{"from":"', trim_scale(coalesce(multiple * step, min)), '","records":', count, '}'
            ), ',' order by multiple
          ), ']}'
        ) as numbers
      from histogram full join bin using (ordinal)
      group by ordinal, records, ${raw(DECIMALS.join())}, step
    )`;
