import { parseCsv } from '../../support/csv.ts';
import type { Trial } from '../trial.ts';
import { checkWaiting } from './downloads.ts';
import { expectNothingComplete, expectRows, expectSuccess, readCsv, withoutNulls } from './expect.ts';
import { cutAfter, noFault } from '../faults.ts';
import { checkMistakes, sentenceOf } from './mistakes.ts';

/** Checks `responses-from-pages.csv`, written by a program that turns a missing value into an empty text. */
export async function checkPages(trial: Trial, columns: readonly string[]): Promise<string> {
  const expected = withoutNulls(parseCsv((await trial.get('/responses/csv')).body));
  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const found = withoutNulls(await readCsv(folder, 'responses-from-pages.csv'));
  const rows = expectRows(found, expected, columns);
  const cut = await trial.folder();
  const finished = await trial.run(cut, { faults: [noFault, cutAfter(10_000)] });
  await expectNothingComplete(cut, finished);
  sentenceOf(finished);
  return `${rows}, equal to the export; no partial file when cut; ${await checkMistakes(trial)}; ${await checkWaiting(trial)}`;
}
