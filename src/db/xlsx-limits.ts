import { columnNamed } from '../responses/columns.ts';
import type { Selection } from '../responses/selection.ts';
import { type Database, SCAN } from './database.ts';
import { type LeftOutOptions, leftOut } from './left-out.ts';
import { IS_LETTER, LETTER, labelsOf } from './choices.ts';
import { RECORD } from './questions.ts';
import { relationOf } from './relation.ts';
import { ANSWERS, type Column, type ComputedColumn, answerCtes, computed } from './responses.ts';
import { type Query, type Sql, join, sql } from './sql.ts';

/**
 * Whether the text of a column can have any length. The value of a metadata key need not be
 * checked, because it is shorter than `metadata`, which is.
 */
function hasAnyLength(column: Column): boolean {
  if (typeof column !== 'string') return Object.values<Column>(ANSWERS).includes(column);
  const { type, sql: expression } = columnNamed(column);
  return expression === undefined && (type === 'text' || type === 'jsonb');
}

/** A regular expression for characters of two code units. */
const WITH_TWO_UNITS = String.raw`[\U00010000-\U0010FFFF]+`;

/** SQL for whether a text is a decimal number of at most 15 digits, which a double holds exactly. */
export const isNumber = (text: Sql): Sql => sql`${text} ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?$'
          and length(translate(${text}, '-.', '')) <= 15`;

/**
 * Whether a response of a selection has a text of more than `most` UTF-16 code units in one of
 * these columns. A text has at least as many bytes as code units, and Postgres counts the bytes
 * without reading a stored text. A character has one or two code units, so the query counts those
 * with two only if the number of characters does not decide.
 *
 * With `numbers`, returns a row for each question of a form that has such a text, or whose texts in
 * that column are all numbers or empty.
 */
function longTextQuery(
  selection: Selection,
  columns: readonly Column[],
  most: number,
  numbers: ComputedColumn | undefined,
): Query {
  const limit = sql`${most}::int`;
  const isLong = columns.filter(hasAnyLength).map((column) => {
    const { sql: value, unlabelled } = computed(column);
    const text = sql`(${unlabelled ? longLabel(limit, unlabelled) : value})::text`;
    return sql`
        case when octet_length(${text}) <= ${limit} or 2 * length(${text}) <= ${limit} then false
          when length(${text}) > ${limit} then true
          else 2 * length(${text}) - length(
              regexp_replace(${text}, ${WITH_TWO_UNITS}, '', 'g')
            ) > ${limit} end`;
  });
  const responses = relationOf(selection);
  const hasLong = sql`(${join(isLong, ' or ')})`;

  if (!numbers) {
    const long = responses.all(hasLong);
    const text = sql`with ${responses.forms} select exists (select from ${long})::text`;
    return { text, width: 1 };
  }

  const all = responses.all();
  const text = sql`
    with ${join([responses.forms, ...answerCtes(numbers, all)])}
    select bool_or(has_long)::text, shortcode, question_ref
    from (
      select surveyid, question_ref, bool_or(${hasLong}) as has_long,
        bool_and(text = '' or ${isNumber(sql`text`)}) as has_numbers
      from (select *, ${numbers.sql} as text from ${all}) response
      group by surveyid, question_ref
    ) version join form on id = surveyid
    group by shortcode, question_ref
    having bool_or(has_long) or bool_and(has_numbers)`;

  return { text, width: 3 };
}

/**
 * SQL for an answer's label, if it can be long. A label is part of the question's text, so it is
 * looked up only in a long one.
 */
const longLabel = (limit: Sql, otherwise: Sql) => sql`
  case when octet_length(question_text) > ${limit} and ${IS_LETTER}
    then coalesce((${labelsOf(sql`question_text`)})->>${LETTER}, ${otherwise})
    else ${otherwise} end`;

/**
 * Runs {@link longTextQuery}.
 *
 * @returns the questions whose texts are numbers, each as the JSON of shortcode and name; undefined
 * if a text is too long
 */
export async function findNumbers(
  db: Database,
  selection: Selection,
  columns: readonly Column[],
  most: number,
  numbers: ComputedColumn | undefined,
): Promise<ReadonlySet<string> | undefined> {
  const rows = await db.rows(longTextQuery(selection, columns, most, numbers), SCAN);
  if (rows.some(([isLong]) => isLong === 'true')) return undefined;
  return new Set(rows.map(([, ...question]) => JSON.stringify(question)));
}

/** Counts the records of a wide table. Scans the whole selection. */
export function recordsQuery(selection: Selection, options: LeftOutOptions): Query {
  const responses = relationOf(selection);
  const { ctes, conditions } = leftOut(selection, options);
  const text = sql`
    with ${join([responses.forms, ...ctes])}
    select count(*)::text
    from (
      select distinct ${RECORD}
      from ${responses.all(...conditions)}
    ) record`;
  return { text, width: 1 };
}
