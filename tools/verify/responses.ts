import type { Hash } from 'node:crypto';
import { quoted } from './client.ts';
import { expectEqual, expectThat } from './expect.ts';

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
const NULLABLE = new Set(['parent_surveyid', 'pageid', 'translated_response']);
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:\d{3})?Z$/;

export type Row = Readonly<Record<string, unknown>> & { readonly timestamp: string; readonly token: string };

/** @throws Mismatch unless a response has the documented fields */
export function expectRow(row: Row): void {
  expectEqual('fields of a response', Object.keys(row), [...FIELDS, 'token']);
  for (const [name, value] of Object.entries(row)) {
    const isValid =
      name === 'metadata'
        ? typeof value === 'object' && !Array.isArray(value)
        : typeof value === 'string' || (value === null && NULLABLE.has(name));
    expectThat(isValid, `a response has ${name} ${quoted(JSON.stringify(value))}`);
  }
  expectThat(TIMESTAMP.test(row.timestamp), `a response has the timestamp ${quoted(row.timestamp)}`);
  expectThat(/^[\w-]+$/.test(row.token), `a response has the token ${quoted(row.token)}`);
}

/** The columns of all formats. CSV and JSON are compared without the difference of null and an empty text. */
const COMPARED = CSV_COLUMNS.map((name, index) => ({ name, index })).filter(({ name }) => name !== 'ad_id');

/** Adds a record of a CSV file to a digest. */
export function addTexts(digest: Hash, cells: readonly (string | null)[]): void {
  const texts = COMPARED.map(({ name, index }) => {
    const text = cells[index] ?? '';
    return name === 'metadata' ? (JSON.parse(text || 'null') as unknown) : text;
  });
  digest.update(JSON.stringify(texts));
}

/** Adds an object to a digest. */
export function addRow(digest: Hash, row: Row): void {
  digest.update(JSON.stringify(COMPARED.map(({ name }) => row[name] ?? (name === 'metadata' ? null : ''))));
}

/** A timestamp as a text to compare: they have three fraction digits or six. */
export const sortable = (timestamp: string) =>
  timestamp.replace(/Z$/, '').padEnd('2026-03-01T00:03:43.770047'.length, '0');

/** The cursor of a record, as clients that resume a download make it: docs/api.md, "Resuming a download". */
export function tokenOf(cells: readonly (string | null)[]): string {
  const cell = (name: string) => cells[CSV_COLUMNS.indexOf(name)];
  const cursor = [1, cell('timestamp'), cell('userid'), cell('question_ref'), cell('surveyid')];
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}
