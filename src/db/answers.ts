import type { Selection } from '../responses/selection.ts';
import { QUESTIONS_OPTIONS } from './codebook.ts';
import { withoutFormulas } from './formulas.ts';
import { GROUP, IN_GROUPS, groupColumns, groupCtes, groupSql } from './groups.ts';
import { type LeftOutOptions, keptResponses, leftOut, selectedCtes } from './left-out.ts';
import { type ColumnsBy, FORM_POSITION, MAX_QUESTIONS, RECORD, columnNames } from './questions.ts';
import { relationOf } from './relation.ts';
import { ANSWERS, answerCtes } from './responses.ts';
import { type Query, type Sql, join, raw, sql } from './sql.ts';
import { isNumber } from './xlsx-limits.ts';

interface AnswersOptions extends LeftOutOptions {
  readonly value?: keyof typeof ANSWERS;
  readonly columns?: ColumnsBy;
  /** The names of the columns to return; all unless given. */
  readonly column?: readonly string[] | undefined;
  /** The name of the column by which records are grouped. */
  readonly by?: string | undefined;
  /** Adds the distribution of numbers, to JSON. */
  readonly numbers?: boolean;
  /** How many values are listed for a question. */
  readonly top: number;
  readonly format: 'json' | 'csv';
  /** Puts an apostrophe wherever a spreadsheet could run a value of a CSV file as a formula. */
  readonly safe?: boolean;
}

/** The columns of {@link answersQuery}, in order: of `csv`, or the members of the JSON object. */
export const answerColumns = ({ by, format }: Pick<AnswersOptions, 'by' | 'format'>) =>
  format === 'csv'
    ? [
        'column',
        'shortcode',
        'question_ref',
        'value',
        ...(by === undefined ? [] : ['group']),
        'records',
      ]
    : [
        'records',
        'left_out',
        ...(by === undefined ? [] : ['by', 'groups', 'ungrouped', 'other_groups']),
        'questions',
      ];

/** A long value is counted whole, and returned as its first 1,000 code points. */
const listed = (value: Sql) =>
  sql`case when length(${value}) > 1000 then left(${value}, 1000) || '…' else ${value} end`;

/**
 * SQL for rows, or as many of them as make a result larger than it may be: Postgres would otherwise
 * build a text of any size, only for it to be refused.
 *
 * @param texts SQL for the texts that the result has of a row, besides at least 18 bytes
 */
const upToLimit = (rows: Sql, order: Sql, texts: Sql) => sql`(
      select *
      from (
        select *, sum(octet_length(concat(${texts})) + 18) over (
            order by ${order} rows between unbounded preceding and 1 preceding
          ) as bytes_before
        from ${rows}
      ) row
      where coalesce(bytes_before, 0) < ${raw(String(QUESTIONS_OPTIONS.maxBytes))}
    )`;

/** The columns to return. */
const RETURNED = sql`(select * from asked where ordinal = question_number and is_returned) question`;
const fits = sql`(select count(*) from question) <= ${raw(String(MAX_QUESTIONS))}`;

/**
 * Counts the cells of a wide table's question columns, by value: as JSON in one row, the number of
 * records, that of participants left out, the groups, and the columns; or as CSV, a row for each
 * value listed and one with null for the others, of each group. Without rows if there are more
 * columns than a wide table can have.
 *
 * The cell of a record is the last response to its questions. One scan finds the columns and the
 * cells, of the responses with nothing of their metadata but what they are grouped by.
 *
 * Postgres underestimates the number of rows from most common table expressions. Of those that can
 * be many, it would compare each with each, unless they are in a full join, which no condition may
 * turn into another: see {@link columnNames}.
 */
export function answersQuery(selection: Selection, options: AnswersOptions): Query {
  const { value = 'response', columns, column: names, by, format } = options;
  const responses = relationOf(selection);
  const leaving = leftOut(selection, options);
  const all = responses.all();
  const answer = ANSWERS[value];
  const ctes = join([responses.forms, ...leaving.ctes, ...answerCtes(answer, all), FORM_POSITION]);
  const isReturned = names ? sql`column_name = any(${names})` : sql`true`;
  const group = by !== undefined && groupSql(by);
  const read = sql`, ${answer.sql} as value${group && sql`, ${group.source} as source`}`;
  const top = sql`${options.top}::int`;
  const text = sql`
    with recursive ${ctes}, ${selectedCtes(all, read)}, ${columnNames(columns)},
    asked as materialized (
      select shortcode, question_ref, column_name, ordinal, question_number,
        ${isReturned} as is_returned
      from question_column
      where ${isReturned}${group && sql` or column_name = ${by}`}
    ), cell as materialized (
      select dense_rank() over (order by ${RECORD}) as record, ordinal, is_returned, value
        ${group && sql`, ${group.value} as group_value`}
      from (
        select distinct on (${RECORD}, ordinal) response.*, ordinal, is_returned, column_name
        from ${keptResponses(leaving.conditions, options)} full join asked using (shortcode, question_ref)
        where num_nonnulls(userid) = 1
        order by ${RECORD}, ordinal, timestamp desc, question_ref desc, surveyid desc
      ) last
    ), ${group && groupCtes(listed)} counted as materialized (
      select *, dense_rank() over (
          partition by ordinal order by of_value desc, value collate "C"
        ) as place
      from (
        select ordinal, value, ${!group && sql`null as `}position, count(*) as records,
          ${group ? sql`sum(count(*)) over (partition by ordinal, value)` : sql`count(*)`} as of_value
        from cell ${group && sql`full join member using (record)`}
        where coalesce(is_returned, false)
        group by ordinal, value, position
      ) one
    ), ranked as (
      select ordinal, position, least(place, ${top} + 1) as rank,
        case when place <= ${top} then ${listed(sql`value`)} end as text,
        sum(records) as records, max(place) as different
      from counted
      group by ordinal, position, rollup ((rank, text))
    )
    ${format === 'csv' ? csv(options) : json(leaving.count, options)}`;

  return { text, width: answerColumns(options).length };
}

const csv = ({ by, safe }: AnswersOptions) => {
  const group = (escaped?: boolean) =>
    by !== undefined && sql`, ${withoutFormulas(GROUP, escaped)}`;
  return sql`
    select column_name, shortcode, question_ref, ${withoutFormulas(sql`text`, safe)}${group(safe)},
      records
    from ${upToLimit(sql`ranked where rank > 0`, sql`ordinal, rank, position`, sql`text${group()}`)}
      value full join ${RETURNED} using (ordinal)
    where coalesce(records, 0) > 0 and ${fits}
    order by ordinal, rank, position`;
};

/** SQL for the distribution of the numbers of each question in `cell` (see answers.ts), as JSON. */
const NUMBERS = sql`(
          select ordinal, number_distribution(array_agg(number order by number)) as numbers
          from (
            select ordinal, case when ${isNumber(sql`value`)} then value::numeric end as number
            from cell
            where is_returned
          ) decimal
          where number is not null
          group by ordinal
        ) distribution`;

const json = (leftOutCount: Sql, { by, numbers = false }: AnswersOptions) => {
  const groups = by !== undefined && sql`, ',"groups":[', ${IN_GROUPS}, ']'`;
  const rows = sql`(
        select *, concat(''${groups}) as groups
        from (
          select ordinal, rank, text, sum(records) as records, max(different) as different,
            jsonb_object_agg(position, records) filter (where position is not null) as in_groups
          from ranked
          group by ordinal, rank, text
        ) one full join ${RETURNED} using (ordinal)
      ) value`;

  return sql`
    select (select coalesce(max(record), 0) from cell)::text, ${leftOutCount}
      ${by !== undefined && groupColumns(by)},
      concat('[', string_agg(question, ',' order by ordinal), ']')
    from (
      select ordinal, concat(
          '{"column":', to_json(column_name),
          ',"shortcode":', to_json(shortcode),
          ',"question_ref":', to_json(question_ref),
          ',"records":', coalesce(sum(records) filter (where rank is null), 0),
          ',"distinct":', coalesce(max(different), 0),
          ',"values":[', string_agg(
            concat('{"value":', to_json(text), ',"records":', records, groups, '}'),
            ',' order by rank
          ) filter (where text is not null),
          '],"other":', coalesce(sum(records) filter (where rank > 0 and text is null), 0)
          ${numbers && sql`, ',"numbers":', coalesce(max(numbers), 'null')`},
          max(groups) filter (where rank is null), '}'
        ) as question
      from ${upToLimit(rows, sql`ordinal, rank`, sql`text || groups`)} value
        ${numbers && sql`full join ${NUMBERS} using (ordinal)`}
      group by ordinal, column_name, shortcode, question_ref
    ) question
    having ${fits}`;
};
