import { byCreation, compareLists, jsonOf, quoted } from './files.ts';
import { type FormVersion, type Response, timestampOf } from './world.ts';

/*
 * The bodies of `/responses/questions` and `/responses/summary`, made from rows in the order of `/responses`.
 */

const participantsOf = (rows: readonly Response[]) => String(new Set(rows.map(({ userid }) => userid)).size);

const groupsOf = (rows: readonly Response[], keyOf: (row: Response) => string) =>
  Object.entries(Object.groupBy(rows, keyOf)).map(([key, group = []]) => ({ key, group }));

/** @param forms all form versions of the survey */
export function codebookJson(rows: readonly Response[], forms: readonly FormVersion[]): string {
  const oldest = forms.toSorted(byCreation);
  const smallest = (group: readonly Response[]) => Math.min(...group.map(({ index }) => index));
  const entries = groupsOf(rows, ({ form, question }) => JSON.stringify([form.shortcode, question]))
    .map(({ group }) => ({ group, first: group[0] as Response, last: group.at(-1) as Response }))
    .map((entry) => ({
      entry,
      keys: [
        oldest.findIndex(({ shortcode }) => shortcode === entry.first.form.shortcode),
        smallest(entry.group),
        entry.first.question,
      ],
    }))
    .toSorted((a, b) => compareLists(a.keys, b.keys))
    .map(({ entry: { group, first, last } }) =>
      jsonOf([
        ['column', quoted(`${first.form.shortcode}.${first.question}`)],
        ['shortcode', quoted(first.form.shortcode)],
        ['question_ref', quoted(first.question)],
        ['question_idx', quoted(String(smallest(group)))],
        ['question_text', quoted(last.questionText)],
        ['responses', String(group.length)],
        ['participants', participantsOf(group)],
        ['first', quoted(timestampOf(first.at))],
        ['last', quoted(timestampOf(last.at))],
      ]),
    );
  return `{"questions":[${entries.join(',')}]}`;
}

export function summaryJson(rows: readonly Response[]): string {
  const [first, last] = [rows[0], rows.at(-1)];
  const days = groupsOf(rows, ({ at }) => timestampOf(at).slice(0, 10)).map(({ key, group }) =>
    jsonOf([
      ['day', quoted(key)],
      ['responses', String(group.length)],
      ['participants', participantsOf(group)],
    ]),
  );
  return jsonOf([
    ['responses', String(rows.length)],
    ['participants', participantsOf(rows)],
    ['first', quoted(first ? timestampOf(first.at) : null)],
    ['last', quoted(last ? timestampOf(last.at) : null)],
    ['days', `[${days.join(',')}]`],
  ]);
}
