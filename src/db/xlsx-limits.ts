import { columnNamed } from '../responses/columns.ts';
import type { Selection } from '../responses/selection.ts';
import type { Database } from './client.ts';
import { type LeftOutOptions, leftOut } from './left-out.ts';
import { IS_LETTER, LETTER, labelsOf } from './choices.ts';
import { filterConditions, relationOf } from './relation.ts';
import { type Column, labelledAnswer, translatedAnswer } from './responses.ts';
import { type Query, type Sql, join, raw, sql } from './sql.ts';

/** Whether the text of a column can have any length. Values of metadata keys are not checked: none is longer than `metadata`. */
function hasAnyLength(column: Column): boolean {
  if (typeof column === 'function') return column === translatedAnswer || column === labelledAnswer;
  const { type, sql: expression } = columnNamed(column);
  return expression === undefined && (type === 'text' || type === 'jsonb');
}

/**
 * Whether a response of a selection has a text of more than `most` UTF-16 code units in one of these columns. A text has at
 * least as many bytes as code units, and Postgres counts the bytes without reading a stored text. A character has one or two code
 * units, so those with two are counted only if the number of characters does not settle it.
 */
export function longTextQuery(selection: Selection, columns: readonly Column[], most: number): Query {
  const limit = sql`${most}::int`;
  const isLong = columns.filter(hasAnyLength).map((column) => {
    const value = typeof column === 'string' ? raw(column) : column(false);
    const text = sql`(${column === labelledAnswer ? longLabel(limit) : value})::text`;
    const single = sql`length(regexp_replace(${text}, '[\U00010000-\U0010FFFF]+', '', 'g'))`;
    return sql`
        case when octet_length(${text}) <= ${limit} or 2 * length(${text}) <= ${limit} then false
          when length(${text}) > ${limit} then true
          else 2 * length(${text}) - ${single} > ${limit} end`;
  });
  const responses = relationOf(selection);
  const where = [...filterConditions(selection), sql`(${join(isLong, ' or ')})`];
  return { text: sql`with ${responses.forms} select exists (select from ${responses.all(where)})` };
}

/** The label of a response if it can be long, otherwise the response: the question's text has the label, and is not longer. */
const longLabel = (limit: Sql) => sql`
  case when octet_length(question_text) > ${limit} and ${IS_LETTER}
    then coalesce((${labelsOf(sql`question_text`)})->>${LETTER}, response)
    else response end`;

/** Runs {@link longTextQuery}. */
export async function hasLongText(
  db: Database,
  selection: Selection,
  columns: readonly Column[],
  most: number,
  signal: AbortSignal,
): Promise<boolean> {
  const [isLong] = await db.row(longTextQuery(selection, columns, most), { signal, retry: 'scan' });
  return isLong === 't';
}

/** Counts the records of a wide table. Scans the whole selection. */
export function recordsQuery(selection: Selection, options: LeftOutOptions): Query {
  const responses = relationOf(selection);
  const { ctes, isKept } = leftOut(selection, options);
  const text = sql`
    with ${join([responses.forms, ...ctes], ', ')}
    select count(*)
    from (
      select distinct userid, parent_surveyid, parent_shortcode
      from ${responses.all([...filterConditions(selection), ...isKept])}
    ) record`;
  return { text };
}

/** Runs {@link recordsQuery}. */
export async function countRecords(
  db: Database,
  selection: Selection,
  options: LeftOutOptions,
  signal: AbortSignal,
): Promise<number> {
  const [records] = await db.row(recordsQuery(selection, options), { signal, retry: 'scan' });
  return Number(records);
}
