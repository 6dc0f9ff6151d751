import type { Selection } from '../responses/selection.ts';
import { RESERVED_NAMES, RESERVED_PREFIXES } from '../responses/wide-columns.ts';
import { type Database, SCAN } from './database.ts';
import { DatabaseError } from './errors.ts';
import { relationOf } from './relation.ts';
import { type Query, type Sql, raw, sql } from './sql.ts';

/** The most questions that a wide table has. */
export const MAX_QUESTIONS = 5000;

/** SQL for the columns that identify a record of a wide table. */
export const RECORD = raw('userid, parent_surveyid, parent_shortcode');

/** A question of a form, in all its versions. */
export interface Question {
  readonly shortcode: string;
  readonly questionRef: string;
  /** The name of its column in a wide table. Questions of several forms can share a column. */
  readonly column: string;
}

/** How the columns of a wide table are named: by form and question, or by question. */
export type ColumnsBy = 'form_question' | 'question';

/**
 * A common table expression, on `form` (see relation.ts): `form_position`, the form versions with
 * the positions of their forms. The versions of a form share that of the first to be created.
 */
export const FORM_POSITION = sql`
    form_position as materialized (
      select id, shortcode, min(position) over (partition by shortcode) as position
      from (select *, row_number() over (order by created, id) as position from form) version
    )`;

/**
 * A common table expression, on {@link FORM_POSITION}: `question`, the questions of `rows`, with
 * the smallest index of each.
 */
export const questionCte = (rows: Sql): Sql => sql`
    question as materialized (
      select position, shortcode, question_ref, min(idx) as idx
      from (
        select surveyid, question_ref, min(question_idx) as idx
        from ${rows}
        group by surveyid, question_ref
      ) version join form_position on form_position.id = version.surveyid
      group by position, shortcode, question_ref
    )`;

/** The order of the rows of `question`, for ORDER BY: that of the columns of a wide table. */
export const QUESTION_ORDER = raw('position, idx, question_ref collate "C"');

const IS_RESERVED = raw(
  `name in ('${RESERVED_NAMES.join("', '")}') or name ~ '^(${RESERVED_PREFIXES.join('|')})[.]'`,
);

/**
 * Common table expressions that name the columns of questions: `question_column`, the rows of
 * `question` with the `column_name` and `ordinal` of each, and its own `question_number`.
 * Begin the query `with recursive`.
 *
 * Questions are numbered by the positions of their forms, then by their smallest index, then by
 * name. A column has the number of its first question.
 *
 * All names differ. A name that another column of a wide table can have gets `question.` in front.
 * Then, in the order of the columns, a name that an earlier column has gets `_2`, or else `_3`, and
 * so on. Two names can only become equal if they have the same root, the name without such a
 * number. So names are assigned one after another only within a root that has equal names.
 *
 * Postgres underestimates the number of questions, and in most joins would compare each with each.
 * A full join is always hashed or merged.
 *
 * @param by how questions share columns
 */
export function columnNames(by: ColumnsBy = 'form_question'): Sql {
  const isByQuestion = by === 'question';
  const sharing = raw(isByQuestion ? 'question_ref' : 'shortcode, question_ref');
  const name = raw(isByQuestion ? 'question_ref' : `shortcode || '.' || question_ref`);

  return sql`
    numbered as (
      select *, ${name} as name,
        row_number() over (order by ${QUESTION_ORDER}) as question_number
      from question
    ), wanting as materialized (
      select *, regexp_replace(wanted, '(_[0-9]+)+$', '') as root
      from (
        select *, min(question_number) over (partition by ${sharing}) as ordinal,
          case when ${IS_RESERVED} then 'question.' || name else name end as wanted
        from numbered
      ) question
    ), assigned as (
      select root, array_agg(wanted order by ordinal) as wanted, '{}'::text[] as names
      from wanting
      where ordinal = question_number
      group by root
      having count(distinct wanted) < count(*)
      union all
      select root, wanted, names || case when name <> all (names) then name else (
        select name || '_' || suffix
        from generate_series(2, cardinality(names) + 1) suffix
        where name || '_' || suffix <> all (names)
        limit 1
      ) end
      from (select *, wanted[cardinality(names) + 1] as name from assigned) assigned
      where name is not null
    ), question_column as materialized (
      select wanting.*, coalesce(
          names[dense_rank() over (partition by root order by ordinal)], wanting.wanted
        ) as column_name
      from wanting full join (
        select root, names from assigned where cardinality(names) = cardinality(wanted)
      ) done using (root)
    )`;
}

/**
 * The questions that have responses in a selection, in the order of their columns: one more than a
 * wide table has at most. Shortcodes are those of the selection, even if they have since changed.
 *
 * It scans the whole selection, because no index has a form's questions.
 */
export function questionsQuery(selection: Selection, by?: ColumnsBy): Query {
  const responses = relationOf(selection);
  const question = questionCte(responses.all());
  const text = sql`
    with recursive ${responses.forms}, ${FORM_POSITION}, ${question}, ${columnNames(by)}
    select shortcode, question_ref, column_name
    from question_column
    order by question_number
    limit ${raw(String(MAX_QUESTIONS + 1))}`;

  return { text, width: 3 };
}

/**
 * Runs {@link questionsQuery}. @throws DatabaseError `too-large` if there are too many questions,
 * or their names are too long
 */
export async function findQuestions(
  db: Database,
  selection: Selection,
  by: ColumnsBy | undefined,
): Promise<Question[]> {
  const rows = await db.rows(questionsQuery(selection, by), SCAN);
  if (rows.length > MAX_QUESTIONS)
    throw new DatabaseError('too-large', 'more questions than a wide table can have');

  return (rows as [string, string, string][]).map(([shortcode, questionRef, column]) => ({
    shortcode,
    questionRef,
    column,
  }));
}
