import { parseCsv } from '../../support/csv.ts';
import type { Trial } from '../trial.ts';
import { checkWaiting } from './downloads.ts';
import { expectAllOrNothing, expectRows, expectSuccess, readCsv, withoutNulls } from './expect.ts';
import { cutAfter, noFault } from '../faults.ts';

/** Checks `responses-from-pages.csv`, written by a program that turns a missing value into an empty text. */
export async function checkPages(trial: Trial, columns: readonly string[]): Promise<string> {
  const expected = withoutNulls(parseCsv((await trial.get('/responses/csv')).body));
  const expectAll = async (folder: string) =>
    expectRows(withoutNulls(await readCsv(folder, 'responses-from-pages.csv')), expected, columns);

  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const rows = await expectAll(folder);
  const cut = await trial.folder();
  const finished = await trial.run(cut, { faults: [noFault, cutAfter(10_000)] });
  await expectAllOrNothing(cut, finished, () => expectAll(cut));
  return `${rows}, equal to the export; no partial file when cut; ${await checkWaiting(trial)}`;
}
