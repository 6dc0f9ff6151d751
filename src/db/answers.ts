import type { Selection } from '../responses/selection.ts';
import { withoutFormulas } from './formulas.ts';
import { type LeftOutOptions, leftOut } from './left-out.ts';
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
import { type Query, type Sql, and, join, raw, sql } from './sql.ts';

/** The columns of {@link answersQuery} with `csv`, in order. */
export const ANSWER_COLUMNS = ['column', 'shortcode', 'question_ref', 'value', 'records'] as const;

/** A longer value is counted whole, and returned as so many of its first code points. */
const MAX_VALUE_LENGTH = 1000;

export interface AnswersOptions extends LeftOutOptions {
  readonly value?: keyof typeof ANSWERS | undefined;
  readonly columns?: ColumnsBy | undefined;
  /** The names of the columns to return; all unless given. */
  readonly column?: readonly string[] | undefined;
  /** How many values are listed for a question. */
  readonly top: number;
  readonly format: 'json' | 'csv';
  /** Puts an apostrophe wherever a spreadsheet could run a value of a CSV file as a formula. */
  readonly safe?: boolean | undefined;
}

const nothing = raw('');

/** The attempt of a record's first response to each form. */
const firstFlow = sql`, first_value(flowid) over (
          partition by ${RECORD}, shortcode
          order by timestamp, question_ref, surveyid
        ) as first_flow`;
const isOfFirstFlow = sql` and (flowid = first_flow) is not false`;

const longest = raw(String(MAX_VALUE_LENGTH));
const listedValue = sql`
        case when length(value) > ${longest} then left(value, ${longest}) || '…' else value end`;

const fits = sql`(select count(*) from question) <= ${raw(String(MAX_QUESTIONS))}`;

/**
 * Counts the cells of a wide table's question columns, by value: as JSON in one row, the number of
 * records, that of participants left out, and the columns; or as CSV, a row for each value listed
 * and one with null for the others. Without rows if there are more columns than a wide table can
 * have.
 *
 * The cell of a record is the last response to its questions. One scan finds the columns and the
 * cells, of the responses without their metadata.
 */
export function answersQuery(selection: Selection, options: AnswersOptions): Query {
  const { value = 'response', repeats, columns, column: names, top, format, safe } = options;
  const responses = relationOf(selection);
  const leaving = leftOut(selection, options);
  const all = responses.all(filterConditions(selection));
  const answer = ANSWERS[value];
  const ctes = join([responses.forms, ...leaving.ctes, ...answerCtes(answer, all), FORM_POSITION]);
  const requested = names ? sql`where column_name = any(${names})` : nothing;
  const isFirst = repeats === 'first';
  const text = sql`
    with recursive ${ctes}, selected as materialized (
      select ${RECORD}, surveyid, flowid, question_ref, question_idx, timestamp,
        ${answer.sql} as value
      from ${all}
    ), ${questionCte(sql`selected`)}, ${columnNames(columns)}, asked as materialized (
      select shortcode, question_ref, column_name, ordinal, question_number
      from question_column
      ${requested}
    ), cell as materialized (
      select distinct on (${RECORD}, ordinal) ${RECORD}, ordinal, value
      from (
        select responses.*, form.shortcode${isFirst ? firstFlow : nothing}
        from selected responses join form on form.id = surveyid
        where ${and([sql`true`, ...leaving.conditions])}
      ) response full join asked using (shortcode, question_ref)
      where num_nonnulls(userid) = 1${isFirst ? isOfFirstFlow : nothing}
      order by ${RECORD}, ordinal, timestamp desc, surveyid desc
    ), counted as (
      select ordinal, value, count(*) as records,
        row_number() over (
          partition by ordinal order by count(*) desc, value collate "C"
        ) as rank,
        sum(count(*)) over (partition by ordinal) as total,
        count(*) over (partition by ordinal) as different
      from cell
      where ordinal is not null
      group by ordinal, value
    ), value as (
      select ordinal, rank, ${listedValue} as value, records, total, different
      from counted
      where rank <= ${top}::int
      union all
      select ordinal, null, null, sum(records), max(total), max(different)
      from counted
      where rank > ${top}::int
      group by ordinal
    ), asked_value as (
      select *
      from value full join (
        select * from asked where ordinal = question_number
      ) question using (ordinal)
    )
    ${format === 'csv' ? csv(safe) : json(leaving.count)}`;

  return { text, width: format === 'csv' ? ANSWER_COLUMNS.length : 3 };
}

const csv = (safe?: boolean) => sql`
    select column_name, shortcode, question_ref, ${withoutFormulas(sql`value`, safe)}, records
    from asked_value
    where coalesce(records, 0) > 0 and ${fits}
    order by ordinal, rank`;

const json = (leftOutCount: Sql) => sql`
    select (
        select count(*)
        from (select distinct ${RECORD} from cell) record
      )::text, ${leftOutCount}, '[' || coalesce(string_agg(question, ',' order by ordinal), '') || ']'
    from (
      select ordinal, concat(
          '{"column":', to_json(column_name),
          ',"shortcode":', to_json(shortcode),
          ',"question_ref":', to_json(question_ref),
          ',"records":', coalesce(max(total), 0),
          ',"distinct":', coalesce(max(different), 0),
          ',"values":[', string_agg(
            concat('{"value":', to_json(value), ',"records":', records, '}'), ',' order by rank
          ) filter (where rank is not null),
          '],"other":', coalesce(sum(records) filter (where rank is null), 0), '}'
        ) as question
      from asked_value
      group by ordinal, column_name, shortcode, question_ref
    ) question
    having ${fits}`;
