/*
 * The names are those of docs/api.md, not the service's own constants: a service that changes one does not do what its clients
 * rely on.
 */

/** The columns of a CSV export, in the order that scripts depend on. */
export const CSV_COLUMNS = [
  ...['parent_surveyid', 'parent_shortcode', 'surveyid', 'flowid', 'userid', 'question_ref', 'question_idx'],
  ...['question_text', 'response', 'timestamp', 'metadata', 'ad_id', 'pageid', 'translated_response'],
];

/** The fields of a response, in the order of JSON. */
export const FIELDS = CSV_COLUMNS.filter((name) => name !== 'ad_id').toSpliced(2, 0, 'shortcode');

/** A record of a CSV file by column. */
export const rowOf = (cells: readonly (string | null)[]): Record<string, string | null> =>
  Object.fromEntries(CSV_COLUMNS.map((name, index) => [name, cells[index] ?? null]));

/** A response as text, from its fields. `metadata` is an object or null, as in JSON. */
export const textOf = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(FIELDS.map((name) => fields[name] ?? null));

/** The cursor of a row, as clients that resume a download make it: docs/api.md, "Resuming a download". */
export function tokenOf({ timestamp, userid, question_ref: ref, surveyid }: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify([1, timestamp, userid, ref, surveyid])).toString('base64url');
}
