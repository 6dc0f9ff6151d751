import assert from 'node:assert/strict';
import { parseCsv } from '../../support/csv.ts';
import type { Trial } from '../trial.ts';
import {
  type Row,
  expectFileNeeded,
  expectRows,
  expectSuccess,
  folderWithFiles,
  readCsv,
  withoutNulls,
} from './expect.ts';

const RESPONSES = [
  'surveyid',
  'flowid',
  'userid',
  'question_ref',
  'question_text',
  'response',
  'timestamp',
  'metadata',
];
const MORE = ['parent_surveyid', 'parent_shortcode', 'pageid', 'translated_response', 'ad_id'];

/** The responses of the export, each with the columns that the join adds. */
async function joinedRows(trial: Trial): Promise<Row[]> {
  const forms = parseCsv((await trial.get('/responses/form-data')).body);
  const form = new Map(forms.map((row) => [row['surveyid'], row]));
  return parseCsv((await trial.get('/responses/csv')).body).map((response): Row => {
    const { shortcode = null, version = null, metadata = null } = form.get(response['surveyid'] ?? '') ?? {};
    const { platform } = JSON.parse(response['metadata'] ?? '{}') as { platform?: string };
    const { wave } = JSON.parse(metadata ?? '{}') as { wave?: number };
    const added = { shortcode, version, platform: platform ?? null, wave: wave === undefined ? null : String(wave) };
    return Object.assign(response, added);
  });
}

/**
 * Checks `joined.csv`, written by a program that turns a missing value into an empty text.
 *
 * @param added the columns that the join adds
 */
export async function checkJoin(trial: Trial, added: readonly string[]): Promise<string> {
  const expected = withoutNulls(await joinedRows(trial));
  assert.ok(expected.every((row) => row['version'] !== ''));
  const folder = await folderWithFiles(trial);
  expectSuccess(await trial.run(folder));
  await expectFileNeeded(trial, 'responses.csv');
  const rows = expectRows(withoutNulls(await readCsv(folder, 'joined.csv')), expected, [
    ...RESPONSES,
    ...MORE,
    ...added,
  ]);
  return `${rows}, each with its form version`;
}
