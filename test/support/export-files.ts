import { naiveCsv } from './csv.ts';

/** A row of an export file, by column. An unquoted empty cell is null. */
export type FileRow = Record<string, string | null>;

export const formId = '3f1c6c5e-0000-4000-8000-000000000001';
export const secondFormId = '3f1c6c5e-0000-4000-8000-000000000002';

/** A row of a form-data file. */
export function formRow(values: FileRow = {}): FileRow {
  return {
    surveyid: formId,
    shortcode: 'start',
    survey_name: 'Étude “1”',
    version: '1',
    survey_created: '2026-01-05T09:00:00.123456Z',
    metadata: '{"wave":1}',
    ...values,
  };
}

/** The second version of {@link formRow}'s form. */
export const secondFormRow = (values: FileRow = {}): FileRow =>
  formRow({
    surveyid: secondFormId,
    version: '2',
    survey_created: '2026-02-01T00:00:00.000Z',
    ...values,
  });

/** A text that is too long for an index, however well it is compressed. */
export const incompressible = Array.from({ length: 700 }, (_, index) =>
  ((index * 2654435761) >>> 0).toString(36),
).join('');

/** A row of a responses file. */
export function responseRow(values: FileRow = {}): FileRow {
  return {
    parent_surveyid: formId,
    parent_shortcode: 'start',
    surveyid: formId,
    flowid: '1600000001840',
    userid: '2000921492222525',
    question_ref: 'health',
    question_idx: '0',
    question_text: 'How are you?',
    response: 'Good',
    timestamp: '2026-03-01T00:03:43.770047Z',
    metadata: '{"ad_id":"2384","startTime":1772323417086}',
    ad_id: '2384',
    pageid: '935593143497601',
    translated_response: null,
    ...values,
  };
}

/** Writes rows as CSV as Postgres does. All rows have the columns of the first. */
export function csvOf(rows: FileRow[], lineEnd?: string): string {
  const names = Object.keys(rows[0] ?? {});
  return naiveCsv([names, ...rows.map((row) => names.map((name) => row[name] ?? null))], lineEnd);
}
