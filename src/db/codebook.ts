import type { Selection } from '../responses/selection.ts';
import { choicesJson } from './choices.ts';
import { withoutFormulas } from './formulas.ts';
import { type ColumnsBy, FORM_POSITION, columnNames } from './questions.ts';
import { relationOf } from './relation.ts';
import { type Query, type Sql, isoTimestamp, sql } from './sql.ts';

/**
 * How a table of questions is read. The largest codebook has some 8,000 questions of 300
 * characters. It is held in memory, together with what is made from it.
 */
export const QUESTIONS_OPTIONS = { maxBytes: 4 * 1024 * 1024, kind: 'scan' } as const;

/** The columns of {@link codebookQuery}, in order. */
export const CODEBOOK_COLUMNS = [
  'column',
  'shortcode',
  'question_ref',
  'question_idx',
  'question_text',
  'responses',
  'participants',
  'first',
  'last',
  'choices',
] as const;

/**
 * The questions that have responses in a selection, with their texts and numbers of responses, in
 * the order of `questionsQuery`.
 *
 * One scan groups the responses by question and participant, since a sort of all of them would take
 * longer. The text is that of the latest response, which the primary key finds.
 *
 * @param by how a wide file names its columns
 * @param safe puts an apostrophe wherever a spreadsheet could run a text as a formula
 */
export function codebookQuery(selection: Selection, by?: ColumnsBy, safe = false): Query {
  const typed = (text: Sql) => withoutFormulas(sql`${text}::text`, safe);
  const responses = relationOf(selection);
  const ofForm = responses.to(sql`form.id`);
  const ofQuestion = responses.to(
    sql`form.id`,
    sql`timestamp = described.last`,
    sql`userid = described.userid`,
    sql`question_ref = described.question_ref`,
  );
  const text = sql`
    with recursive ${responses.forms}, ${FORM_POSITION}, answered as materialized (
      select position, shortcode, question_ref, userid, min(question_idx) as idx,
        count(*) as responses, min(timestamp) as first, max(timestamp) as last
      from form_position form, lateral (
        select question_ref, userid, question_idx, timestamp from ${ofForm} offset 0
      ) response
      group by position, shortcode, question_ref, userid
    ), question as materialized (
      select position, shortcode, question_ref, min(idx) as idx, sum(responses) as responses,
        count(*) as participants, min(first) as first, max(last) as last
      from answered
      group by position, shortcode, question_ref
    ), ${columnNames(by)}, described as (
      select distinct on (question_number) question.*, userid
      from answered join question_column question using (position, shortcode, question_ref)
      where answered.last = question.last
      order by question_number, userid desc
    )
    select column_name, shortcode, question_ref, idx, ${typed(sql`question_text`)}, responses, participants,
      ${isoTimestamp('first')}, ${isoTimestamp('last')}, ${typed(choicesJson(sql`question_text`))}
    from described, lateral (
      select question_text
      from form_position form, lateral (select surveyid, question_text from ${ofQuestion}) response
      where position = described.position
      order by surveyid desc
      limit 1
    ) response
    order by question_number`;

  return { text, width: CODEBOOK_COLUMNS.length };
}
