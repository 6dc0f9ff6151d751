import type { Selection } from '../responses/selection.ts';
import { RESERVED_NAMES, RESERVED_PREFIXES } from '../responses/wide-columns.ts';
import type { Database } from './client.ts';
import { DatabaseError } from './errors.ts';
import { filterConditions, relationOf } from './relation.ts';
import { type Query, type Sql, raw, sql } from './sql.ts';

/** The most that a wide table has. */
export const MAX_QUESTIONS = 5000;
/** The largest result with their names, which memory holds. */
const MAX_BYTES = 2 * 1024 * 1024;

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
 * SQL for those of `form` (see relation.ts). The versions of a form share a position, that of the
 * first to be created.
 */
export const FORM_POSITIONS = sql`
      select id, shortcode, min(position) over (partition by shortcode) as position
      from (select *, row_number() over (order by created, id) as position from form) version`;

const IS_RESERVED = raw(
  `name in ('${RESERVED_NAMES.join("', '")}') or name ~ '^(${RESERVED_PREFIXES.join('|')})[.]'`,
);

/**
 * A common table expression, on `form`: `question`, those of `rows`, with the order of their
 * columns. Forms are ordered by the creation of their first version, a form's questions by their
 * smallest `question_idx`, then by name.
 */
export const questionCte = (rows: Sql): Sql => sql`
    question as materialized (
      select form.position, form.shortcode, question_ref, min(idx) as idx
      from (
        select surveyid, question_ref, min(question_idx) as idx
        from ${rows}
        group by surveyid, question_ref
      ) version join (${FORM_POSITIONS}
      ) form on form.id = version.surveyid
      group by form.position, form.shortcode, question_ref
    )`;
/** The order of the columns of `question`. */
const COLUMN_ORDER = raw('position, idx, question_ref collate "C"');

/**
 * Common table expressions for the names of questions' columns, which all differ:
 * `question_column`, the rows of `question` with the `name` and the place `n` of their columns.
 * Begin the query `with recursive`.
 *
 * A name that another column can have gets `question.` in front. Then, in the order of the columns,
 * a name that an earlier one has gets `_2`, or else `_3`, and so on. Names without such numbers are
 * their root. Only within a root can names be equal, and only where two are is it necessary to give
 * them one after another.
 *
 * Postgres takes questions for few, and in most joins would compare each with each. A full join is
 * always hashed or merged.
 *
 * @param by how questions share columns
 */
export function columnNames(by: ColumnsBy = 'form_question'): Sql {
  const isByQuestion = by === 'question';
  const shared = isByQuestion ? sql`question_ref` : sql`shortcode, question_ref`;
  const name = isByQuestion ? sql`question_ref` : sql`shortcode || '.' || question_ref`;
  return sql`
    based as materialized (
      select *, regexp_replace(wanted, '(_[0-9]+)+$', '') as root
      from (
        select *, min(place) over (partition by ${shared}) as n,
          case when ${IS_RESERVED} then 'question.' || name else name end as wanted
        from (select *, ${name} as name, row_number() over (order by ${COLUMN_ORDER}) as place from question) question
      ) question
    ), numbered as (
      select root, array_agg(wanted order by n) as wanted, '{}'::text[] as names
      from based
      where n = place
      group by root
      having count(distinct wanted) < count(*)
      union all
      select root, wanted, names || case when name <> all (names) then name else (
        select name || '_' || k
        from (select generate_series(2, cardinality(names) + 1) as k) number
        where name || '_' || k <> all (names)
        limit 1
      ) end
      from (select *, wanted[cardinality(names) + 1] as name from numbered) numbered
      where name is not null
    ), question_column as materialized (
      select based.*, coalesce(names[dense_rank() over (partition by root order by n)], based.wanted) as column_name
      from based full join (select root, names from numbered where cardinality(names) = cardinality(wanted)) done using (root)
    )`;
}

/**
 * The questions that have responses in a selection, in the order of their columns. Shortcodes are
 * those of the selection, even if they have since changed.
 *
 * It scans the whole selection, because no index has a form's questions.
 *
 * @param limit the number of questions to return at most
 */
export function questionsQuery(
  selection: Selection,
  by: ColumnsBy | undefined,
  limit: number,
): Query {
  const responses = relationOf(selection);
  const text = sql`
    with recursive ${responses.forms}, ${questionCte(responses.all(filterConditions(selection)))}, ${columnNames(by)}
    select shortcode, question_ref, column_name
    from question_column
    order by place
    limit ${raw(String(limit))}`;
  return { text };
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
  const query = questionsQuery(selection, by, MAX_QUESTIONS + 1);
  const rows = await db.rows(query, { maxBytes: MAX_BYTES, retry: 'scan', keep: true });
  if (rows.length > MAX_QUESTIONS)
    throw new DatabaseError('too-large', 'more questions than a wide table can have');
  return (rows as [string, string, string][]).map(([shortcode, questionRef, column]) => ({
    shortcode,
    questionRef,
    column,
  }));
}
