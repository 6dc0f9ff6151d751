import type { Selection } from '../responses/selection.ts';
import { type LeftOutOptions, leftOut } from './left-out.ts';
import { type ColumnsBy, MAX_QUESTIONS, columnNames, questionCte } from './questions.ts';
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
}

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
  const { value = 'response', repeats, columns, column: names, top, format } = options;
  const responses = relationOf(selection);
  const leaving = leftOut(selection, options);
  const all = responses.all(filterConditions(selection));
  const answer = ANSWERS[value];
  const record = sql`userid, parent_surveyid, parent_shortcode`;
  // Of each form, only the attempt that the record's first response to it is of.
  const isFirst = repeats === 'first' ? sql` and (flowid = first_flow) is not false` : sql``;
  const firstFlow =
    repeats === 'first'
      ? sql`, first_value(flowid) over (partition by ${record}, shortcode order by timestamp, question_ref, surveyid) as first_flow`
      : sql``;
  const longest = raw(String(MAX_VALUE_LENGTH));
  const listed = sql`case when length(value) > ${longest} then left(value, ${longest}) || '…' else value end`;
  const ctes = [responses.forms, ...leaving.ctes, ...answerCtes(answer, all)];
  const fits = sql`(select count(*) from question) <= ${raw(String(MAX_QUESTIONS))}`;
  const text = sql`
    with recursive ${join(ctes)}, selected as materialized (
      select ${record}, surveyid, flowid, question_ref, question_idx, timestamp, ${answer.sql} as value from ${all}
    ), ${questionCte(sql`selected`)}, ${columnNames(columns)}, asked as materialized (
      select shortcode, question_ref, column_name, n, place from question_column ${names ? sql`where column_name = any(${names})` : sql``}
    ), cell as materialized (
      select distinct on (${record}, n) ${record}, n, value
      from (
        select responses.*, form.shortcode${firstFlow}
        from selected responses join form on form.id = surveyid
        ${leaving.isKept.length > 0 ? sql`where ${and(leaving.isKept)}` : sql``}
      ) response full join asked using (shortcode, question_ref)
      where num_nonnulls(userid) = 1${isFirst}
      order by ${record}, n, timestamp desc, surveyid desc
    ), counted as (
      select n, value, count(*) as records,
        row_number() over (partition by n order by count(*) desc, value collate "C") as rank,
        sum(count(*)) over (partition by n) as total, count(*) over (partition by n) as different
      from cell
      where n is not null
      group by n, value
    ), value as (
      select n, rank, ${listed} as value, records, total, different from counted where rank <= ${top}::int
      union all
      select n, null, null, sum(records), max(total), max(different) from counted where rank > ${top}::int group by n
    )
    ${format === 'csv' ? csv(fits) : json(leaving.count, fits)}`;
  return { text };
}

const csv = (fits: Sql) => sql`
  select column_name, shortcode, question_ref, value, records
  from value full join (select * from asked where n = place) question using (n)
  where coalesce(records, 0) > 0 and ${fits}
  order by n, rank`;

const json = (leftOutCount: Sql, fits: Sql) => sql`
  select (select count(*) from (select distinct userid, parent_surveyid, parent_shortcode from cell) record), ${leftOutCount},
    '[' || coalesce(string_agg(question, ',' order by n), '') || ']'
  from (
    select n, concat('{"column":', to_json(column_name), ',"shortcode":', to_json(shortcode), ',"question_ref":', to_json(question_ref),
      ',"records":', coalesce(max(total), 0), ',"distinct":', coalesce(max(different), 0), ',"values":[',
      string_agg(concat('{"value":', to_json(value), ',"records":', records, '}'), ',' order by rank) filter (where rank is not null),
      '],"other":', coalesce(sum(records) filter (where rank is null), 0), '}') as question
    from value full join (select * from asked where n = place) question using (n)
    group by n, column_name, shortcode, question_ref
  ) question
  having ${fits}`;
