import type { Selection } from '../responses/selection.ts';
import { formatInstant } from '../responses/timestamp.ts';
import type { Database, Query } from './client.ts';
import type { AddParam, Param } from './order.ts';
import { RESULT_NAME } from './sql.ts';

/** A question of a form, in all its versions. */
export interface Question {
  readonly shortcode: string;
  readonly questionRef: string;
}

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
  const params: Param[] = [formVersions.map(({ id }) => id), formVersions.map(({ shortcode }) => shortcode), limit];
  const where = filterConditions(selection, (value) => `$${params.push(value)}`);
  const text = `
    select form.shortcode as ${RESULT_NAME}, question_ref
    from (
      select surveyid, question_ref, min(question_idx) as idx
      from responses
      where ${['surveyid = any($1::uuid[])', ...where].join(' and ')}
      group by surveyid, question_ref
    ) question join (
      select id, shortcode, min(position) over (partition by shortcode) as position
      from (
        select id, version.shortcode, row_number() over (order by created, id) as position
        from unnest($1::uuid[], $2::text[]) version (id, shortcode) left join surveys using (id)
      ) version
    ) form on form.id = question.surveyid
    group by form.position, form.shortcode, question_ref
    order by form.position, min(idx), question_ref collate "C"
    limit $3`;
  return { text, params, columns: 2 };
}

/** @throws DatabaseError `too-large` if the questions' names exceed `maxBytes` */
export async function findQuestions(
  db: Database,
  selection: Selection,
  { limit, maxBytes }: { limit: number; maxBytes: number },
  signal: AbortSignal,
): Promise<Question[]> {
  const rows = await db.rows(questionsQuery(selection, limit), { signal, maxBytes, retry: 'scan' });
  return (rows as [string, string][]).map(([shortcode, questionRef]) => ({ shortcode, questionRef }));
}

function filterConditions({ since, until, userids, questionRefs }: Selection, add: AddParam): string[] {
  return [
    since === undefined ? '' : `timestamp >= ${add(formatInstant(since))}::timestamptz`,
    until === undefined ? '' : `timestamp < ${add(formatInstant(until))}::timestamptz`,
    userids ? `userid = any(${add(userids)})` : '',
    questionRefs ? `question_ref = any(${add(questionRefs)})` : '',
  ].filter((condition) => condition !== '');
}
