import { formatInstant } from '../responses/timestamp.ts';
import type { Database, Query } from './client.ts';
import type { Add, Value } from './order.ts';
import type { Selection } from './selection.ts';

/** A question of a form, in whatever versions of the form it has been answered. */
export interface Question {
  readonly shortcode: string;
  readonly questionRef: string;
}

/**
 * The questions that have answers in a selection, in the order of their forms: those by the creation of their first
 * version, a form's questions by the smallest place that they were answered at, then by name.
 *
 * This reads the whole selection once, in no order: no index knows the questions of a form. Shortcodes are those of the
 * selection, whatever they have become since.
 *
 * @param limit of the questions returned
 */
export function questionsQuery(selection: Selection, limit: number): Query {
  const { forms } = selection;
  const params: Value[] = [forms.map(({ id }) => id), forms.map(({ shortcode }) => shortcode), limit];
  const where = conditions(selection, (value) => `$${params.push(value)}`);
  const text = `
    select form.shortcode, question_ref
    from (
      select surveyid, question_ref, min(question_idx) as idx from responses
      where ${['surveyid = any($1::uuid[])', ...where].join(' and ')} group by surveyid, question_ref
    ) question join (
      select id, shortcode, min(place) over (partition by shortcode) as place
      from (
        select id, version.shortcode, row_number() over (order by created, id) as place
        from unnest($1::uuid[], $2::text[]) version (id, shortcode) left join surveys using (id)
      ) version
    ) form on form.id = question.surveyid
    group by form.place, form.shortcode, question_ref
    order by form.place, min(idx), question_ref collate "C"
    limit $3`;
  return { text, params, columns: 2 };
}

/** @throws DatabaseError `too-large` when the questions' names have more than `maxBytes` */
export async function findQuestions(
  db: Database,
  selection: Selection,
  { limit, maxBytes }: { limit: number; maxBytes: number },
  signal: AbortSignal,
): Promise<Question[]> {
  const rows = await db.rows(questionsQuery(selection, limit), { signal, maxBytes, patience: 'walk' });
  return (rows as [string, string][]).map(([shortcode, questionRef]) => ({ shortcode, questionRef }));
}

function conditions({ since, until, userids, questionRefs }: Selection, add: Add): string[] {
  return [
    since === undefined ? '' : `timestamp >= ${add(formatInstant(since))}::timestamptz`,
    until === undefined ? '' : `timestamp < ${add(formatInstant(until))}::timestamptz`,
    userids ? `userid = any(${add(userids)})` : '',
    questionRefs ? `question_ref = any(${add(questionRefs)})` : '',
  ].filter((condition) => condition !== '');
}
