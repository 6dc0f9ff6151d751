import type { Selection } from '../responses/selection.ts';
import { RESERVED_NAMES, RESERVED_PREFIXES } from '../responses/wide-columns.ts';
import type { Database } from './client.ts';
import { filterConditions, relationOf } from './relation.ts';
import { type Query, type Sql, raw, sql } from './sql.ts';

/** The most that a wide table has. */
export const MAX_QUESTIONS = 5000;

/** A question of a form, in all its versions. */
export interface Question {
  readonly shortcode: string;
  readonly questionRef: string;
  /** The name of its column in a wide table. Questions of several forms can share a column. */
  readonly column: string;
}

/** How the columns of a wide table are named: by form and question, or by question. */
export type ColumnsBy = 'form_question' | 'question';

/** SQL for those of `form` (see relation.ts). The versions of a form share a position, that of the first to be created. */
export const FORM_POSITIONS = sql`
      select id, shortcode, min(position) over (partition by shortcode) as position
      from (select *, row_number() over (order by created, id) as position from form) version`;

const IS_RESERVED = raw(`name in ('${RESERVED_NAMES.join("', '")}') or name ~ '^(${RESERVED_PREFIXES.join('|')})[.]'`);

/**
 * A common table expression, on `form`: `question`, those of `rows`, with the order of their columns. Forms are ordered by the creation
 * of their first version, a form's questions by their smallest `question_idx`, then by name.
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
export const COLUMN_ORDER = raw('position, idx, question_ref collate "C"');

/**
 * Common table expressions for the names of questions' columns, which all differ: `column_name`, on `question`, with its `shortcode`,
 * `question_ref` and the `name` of its column. Begin the query `with recursive`.
 *
 * A name that another column can have gets `question.` in front. Then, in the order of the columns, a name that an earlier one has
 * gets `_2`, or else `_3`, and so on. Names without such numbers are their root. Only within a root can names be equal, and only
 * where two are is it necessary to give them one after another.
 *
 * @param by how questions share columns
 */
export function columnNames(by: ColumnsBy = 'form_question'): Sql {
  const isByQuestion = by === 'question';
  const form = isByQuestion ? sql`''` : sql`shortcode`;
  const name = isByQuestion ? sql`question_ref` : sql`shortcode || '.' || question_ref`;
  return sql`
    based as materialized (
      select *, regexp_replace(name, '(_[0-9]+)+$', '') as root
      from (
        select form, question_ref, n, case when ${IS_RESERVED} then 'question.' || name else name end as name
        from (
          select ${form} as form, question_ref, ${name} as name, min(n) as n
          from (
            select shortcode, question_ref, row_number() over (order by ${COLUMN_ORDER}) as n
            from question
          ) question
          group by 1, 2, 3
        ) question
      ) question
    ), numbered as (
      select root, array_agg(name order by n) as wanted, '{}'::text[] as names
      from based
      group by root
      having count(distinct name) < count(*)
      union all
      select root, wanted, names || (
        select name
        from (
          select k, wanted[cardinality(names) + 1] || case when k > 1 then '_' || k else '' end as name
          from generate_series(1, cardinality(names) + 1) k
        ) candidate
        where name <> all (names)
        order by k
        limit 1
      )
      from numbered
      where cardinality(names) < cardinality(wanted)
    ), column_name as materialized (
      select shortcode, question.question_ref, named.name
      from question join (
        select form, question_ref, coalesce(names[row_number() over (partition by root order by n)], name) as name
        from based left join (select root, names from numbered where cardinality(names) = cardinality(wanted)) done using (root)
      ) named on named.question_ref = question.question_ref and named.form = ${form}
    )`;
}

/**
 * The questions that have responses in a selection, in the order of their columns. Shortcodes are those of the selection, even if they have since
 * changed.
 *
 * It scans the whole selection, because no index has a form's questions.
 *
 * @param limit the number of questions to return at most
 */
export function questionsQuery(selection: Selection, by: ColumnsBy | undefined, limit: number): Query {
  const responses = relationOf(selection);
  const text = sql`
    with recursive ${responses.forms}, ${questionCte(responses.all(filterConditions(selection)))}, ${columnNames(by)}
    select shortcode, question_ref, name
    from question join column_name using (shortcode, question_ref)
    order by ${COLUMN_ORDER}
    limit ${raw(String(limit))}`;
  return { text };
}

/** @throws DatabaseError `too-large` if the questions' names exceed `maxBytes` */
export async function findQuestions(
  db: Database,
  selection: Selection,
  by: ColumnsBy | undefined,
  { limit, maxBytes }: { limit: number; maxBytes: number },
  signal: AbortSignal,
): Promise<Question[]> {
  const rows = await db.rows(questionsQuery(selection, by, limit), { signal, maxBytes, retry: 'scan', keep: true });
  return (rows as [string, string, string][]).map(([shortcode, questionRef, column]) => ({
    shortcode,
    questionRef,
    column,
  }));
}
