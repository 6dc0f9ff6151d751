import type { Grouping } from '../responses/grouping.ts';
import type { Selection } from '../responses/selection.ts';
import { QUESTIONS_OPTIONS } from './codebook.ts';
import { withoutFormulas } from './formulas.ts';
import { groupColumns, groupCtes, groupSql, tallyCtes } from './groups.ts';
import { keptResponses } from './kept.ts';
import { type LeftOutOptions, leftOut } from './left-out.ts';
import { NUMBER_CTES } from './numbers.ts';
import {
  type ColumnsBy,
  FORM_POSITION,
  MAX_QUESTIONS,
  RECORD,
  columnNames,
  questionCte,
} from './questions.ts';
import { filterConditions, relationOf } from './relation.ts';
import { ANSWERS, answerCtes } from './responses.ts';
import { type Query, type Sql, Value, join, raw, sql } from './sql.ts';

/** A longer value is counted whole, and returned as so many of its first code points. */
const MAX_VALUE_LENGTH = raw('1000');

export interface AnswersOptions extends LeftOutOptions {
  readonly value?: keyof typeof ANSWERS | undefined;
  readonly columns?: ColumnsBy | undefined;
  /** The names of the columns to return; all unless given. */
  readonly column?: readonly string[] | undefined;
  readonly by?: Grouping | undefined;
  /** Adds the distribution of numbers, to JSON. */
  readonly numbers?: boolean | undefined;
  /** How many values are listed for a question. */
  readonly top: number;
  readonly format: 'json' | 'csv';
  /** Puts an apostrophe wherever a spreadsheet could run a value of a CSV file as a formula. */
  readonly safe?: boolean | undefined;
}

/** The columns of {@link answersQuery}, in order: of `csv`, or the members of the JSON object. */
export const answerColumns = ({ by, format }: Pick<AnswersOptions, 'by' | 'format'>) =>
  format === 'csv'
    ? ['column', 'shortcode', 'question_ref', 'value', ...(by ? ['group'] : []), 'records']
    : [
        'records',
        'left_out',
        ...(by ? ['by', 'groups', 'ungrouped', 'other_groups'] : []),
        'questions',
      ];

const nothing = raw('');

const listed = (value: Sql) => sql`
        case when length(${value}) > ${MAX_VALUE_LENGTH}
          then left(${value}, ${MAX_VALUE_LENGTH}) || '…' else ${value} end`;

/** No value of a result takes fewer bytes, besides those of its text. */
const VALUE_BYTES = raw('18');
const MAX_BYTES = raw(String(QUESTIONS_OPTIONS.maxBytes));

/**
 * SQL for rows, or as many of them as make a result larger than it may be: Postgres would otherwise
 * build a text of any size, only for it to be refused.
 *
 * @param bytes SQL for the bytes of the texts that the result has of a row
 */
const upToLimit = (rows: Sql, order: Sql, bytes: Sql) => sql`
      select *
      from (
        select *, sum(${bytes} + ${VALUE_BYTES}) over (
            order by ${order} rows between unbounded preceding and 1 preceding
          ) as bytes_before
        from (${rows}) row_of_result
      ) sized
      where coalesce(bytes_before, 0) < ${MAX_BYTES}`;

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
  const { value = 'response', columns, column: names, by, numbers, format } = options;
  const responses = relationOf(selection);
  const leaving = leftOut(selection, options);
  const all = responses.all(filterConditions(selection));
  const answer = ANSWERS[value];
  const ctes = join([responses.forms, ...leaving.ctes, ...answerCtes(answer, all), FORM_POSITION]);
  const isReturned = names ? sql`column_name = any(${names})` : sql`true`;
  const isBy = by ? sql`column_name = ${by.name}` : sql`false`;
  const group = by && groupSql(by);
  /** The rank of all values that are not listed. */
  const other = sql`${new Value(options.top + 1)}::int`;
  const text = sql`
    with recursive ${ctes}, selected as materialized (
      select ${RECORD}, surveyid, flowid, question_ref, question_idx, timestamp,
        ${answer.sql} as value${group ? sql`, ${group.source} as source` : nothing}
      from ${all}
    ), ${questionCte(sql`selected`)}, ${columnNames(columns)}, asked as materialized (
      select shortcode, question_ref, column_name, ordinal, question_number,
        ${isReturned} as is_returned
      from question_column
      where ${isReturned} or ${isBy}
    ), cell as materialized (
      select dense_rank() over (order by ${RECORD}) as record, ordinal, is_returned, value
        ${group ? sql`, ${group.value} as group_value` : nothing}
      from (
        select distinct on (${RECORD}, ordinal) response.*, ordinal, is_returned, column_name
        from ${keptResponses(leaving, options)} response
          full join asked using (shortcode, question_ref)
        where num_nonnulls(userid) = 1
        order by ${RECORD}, ordinal, timestamp desc, question_ref desc, surveyid desc
      ) response
    ), record as (
      select coalesce(max(record), 0) as records from cell
    ), counted as materialized (
      select ordinal, value, count(*) as records,
        row_number() over (
          partition by ordinal order by count(*) desc, value collate "C"
        ) as rank,
        sum(count(*)) over (partition by ordinal) as total,
        count(*) over (partition by ordinal) as different
      from cell
      where is_returned
      group by ordinal, value
    ), ${by ? sql`${groupCtes(listed)}, ` : nothing}value as materialized (${upToLimit(
      sql`
          select ordinal, rank, ${listed(sql`value`)} as value, records, total, different
          from counted
          where rank < ${other}
          union all
          select ordinal, ${other}, null, sum(records), max(total), max(different)
          from counted
          where rank >= ${other}
          group by ordinal`,
      sql`ordinal, rank`,
      sql`octet_length(coalesce(value, ''))${by && format === 'json' ? GROUP_BYTES : nothing}`,
    )}
    ), returned as materialized (
      select * from asked where ordinal = question_number and is_returned
    )${by ? sql`, ${tallyCtes(other)}` : nothing}${numbers ? sql`, ${NUMBER_CTES}` : nothing}
    ${format === 'csv' ? csv(options) : json(leaving.count, options)}`;

  return { text, width: answerColumns(options).length };
}

/** The numbers of a value in the groups take at least two bytes each. */
const GROUP_BYTES = sql` + 2 * (select count(*) from listed_group)`;

/** Counted values, in the groups. */
const tallied = upToLimit(
  sql`
        select ordinal, rank, value, position, tally.records, bytes
        from tally full join value using (ordinal, rank) left join listed_group using (position)
        where coalesce(tally.records, 0) > 0 and rank > 0`,
  sql`ordinal, rank, position`,
  sql`octet_length(coalesce(value, '')) + coalesce(bytes, 0)`,
);

const csv = ({ by, safe }: AnswersOptions) => sql`
    select column_name, shortcode, question_ref, ${withoutFormulas(sql`value`, safe)}
      ${by ? sql`, ${withoutFormulas(sql`listed`, safe)}` : nothing}, records
    from ${by ? sql`(${tallied}) value` : sql`value`} full join returned using (ordinal)
      ${by ? sql`left join (select position, listed from listed_group) one using (position)` : nothing}
    where coalesce(records, 0) > 0 and ${fits}
    order by ordinal, rank${by ? sql`, position` : nothing}`;

const json = (leftOutCount: Sql, { by, numbers }: AnswersOptions) => {
  const sources = [
    sql`value`,
    ...(by
      ? [
          sql`(select ordinal, rank, groups from in_groups where rank > 0) one using (ordinal, rank)`,
        ]
      : []),
    sql`returned using (ordinal)`,
    ...(by
      ? [
          sql`(select ordinal, groups as of_all from in_groups where rank is null) total using (ordinal)`,
        ]
      : []),
    ...(numbers ? [sql`question_numbers using (ordinal)`] : []),
  ];
  const valueGroups = by ? sql`, ',"groups":[', groups, ']'` : nothing;

  return sql`
    select (select records from record)::text, ${leftOutCount}${by ? groupColumns(by) : nothing},
      '[' || coalesce(string_agg(question, ',' order by ordinal), '') || ']'
    from (
      select ordinal, concat(
          '{"column":', to_json(column_name),
          ',"shortcode":', to_json(shortcode),
          ',"question_ref":', to_json(question_ref),
          ',"records":', coalesce(max(total), 0),
          ',"distinct":', coalesce(max(different), 0),
          ',"values":[', string_agg(
            concat('{"value":', to_json(value), ',"records":', records${valueGroups}, '}'),
            ',' order by rank
          ) filter (where value is not null),
          '],"other":', coalesce(sum(records) filter (where value is null), 0)
          ${numbers ? sql`, ',"numbers":', coalesce(max(numbers), 'null')` : nothing}
          ${by ? sql`, ',"groups":[', max(of_all), ']'` : nothing}, '}'
        ) as question
      from ${join(sources, ' full join ')}
      group by ordinal, column_name, shortcode, question_ref
    ) question
    having ${fits}`;
};
