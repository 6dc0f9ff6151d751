import type { Selection } from '../responses/selection.ts';
import type { Database } from './client.ts';
import { filterConditions } from './conditions.ts';
import type { Param, Query } from './sql.ts';

/** A question of a form, in all its versions. */
export interface Question {
  readonly shortcode: string;
  readonly questionRef: string;
}

/**
 * SQL for the form versions of a selection, given as the parameters `$1` (ids) and `$2` (shortcodes). The versions of a form
 * share a position, that of the first to be created.
 */
export const FORM_POSITIONS = `
      select id, shortcode, min(position) over (partition by shortcode) as position
      from (
        select id, version.shortcode, row_number() over (order by created, id) as position
        from unnest($1::uuid[], $2::text[]) version (id, shortcode) left join surveys using (id)
      ) version`;

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
  const { formVersions } = selection;
  const params: Param[] = [formVersions.map(({ id }) => id), formVersions.map(({ shortcode }) => shortcode)];
  const where = filterConditions(selection, (value) => `$${params.push(value)}`);
  const text = `
    select form.shortcode, question_ref
    from (
      select surveyid, question_ref, min(question_idx) as idx
      from responses
      where ${['surveyid = any($1::uuid[])', ...where].join(' and ')}
      group by surveyid, question_ref
    ) question join (${FORM_POSITIONS}
    ) form on form.id = question.surveyid
    group by form.position, form.shortcode, question_ref
    order by form.position, min(idx), question_ref collate "C"
    limit ${limit}`;
  return { text, params };
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
