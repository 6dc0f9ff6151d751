import type { Selection } from '../responses/selection.ts';
import type { Database } from './client.ts';
import { filterConditions, relationOf } from './relation.ts';
import { type Query, raw, sql } from './sql.ts';

/** A question of a form, in all its versions. */
export interface Question {
  readonly shortcode: string;
  readonly questionRef: string;
}

/** SQL for those of `form` (see relation.ts). The versions of a form share a position, that of the first to be created. */
export const FORM_POSITIONS = sql`
      select id, shortcode, min(position) over (partition by shortcode) as position
      from (select *, row_number() over (order by created, id) as position from form) version`;

/**
 * The questions that have responses in a selection. Forms are ordered by the creation of their first version, a form's
 * questions by their smallest `question_idx`, then by name. Shortcodes are those of the selection, even if they have since
 * changed.
 *
 * It scans the whole selection, because no index has a form's questions.
 *
 * @param limit the number of questions to return at most
 */
export function questionsQuery(selection: Selection, limit: number): Query {
  const responses = relationOf(selection);
  const text = sql`
    with ${responses.forms}
    select form.shortcode, question_ref
    from (
      select surveyid, question_ref, min(question_idx) as idx
      from ${responses.all(filterConditions(selection))}
      group by surveyid, question_ref
    ) question join (${FORM_POSITIONS}
    ) form on form.id = question.surveyid
    group by form.position, form.shortcode, question_ref
    order by form.position, min(idx), question_ref collate "C"
    limit ${raw(String(limit))}`;
  return { text };
}

/** @throws DatabaseError `too-large` if the questions' names exceed `maxBytes` */
export async function findQuestions(
  db: Database,
  selection: Selection,
  { limit, maxBytes }: { limit: number; maxBytes: number },
  signal: AbortSignal,
): Promise<Question[]> {
  const rows = await db.rows(questionsQuery(selection, limit), { signal, maxBytes, retry: 'scan', keep: true });
  return (rows as [string, string][]).map(([shortcode, questionRef]) => ({ shortcode, questionRef }));
}
