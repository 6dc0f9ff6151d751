import { parseCsv } from '../../../test/support/csv.ts';
import type { Trial } from '../trial.ts';
import { checkWaiting } from './downloads.ts';
import { expectAllOrNothing, expectRows, expectSuccess, readCsv, withoutNulls } from './expect.ts';

/** `responses-from-pages.csv` has the export's rows, of a writer that writes nothing for an empty text. */
export async function checkPages(trial: Trial, columns: readonly string[]): Promise<string> {
  const expected = withoutNulls(parseCsv((await trial.get('/responses/csv')).body));
  const expectAll = async (folder: string) =>
    expectRows(withoutNulls(await readCsv(folder, 'responses-from-pages.csv')), expected, columns);

  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const rows = await expectAll(folder);
  const cut = await trial.folder();
  const ended = await trial.run(cut, { faults: ['nothing', { cutAfter: 10_000 }] });
  await expectAllOrNothing(cut, ended, () => expectAll(cut));
  return `${rows}, as in the export; nothing half when cut; ${await checkWaiting(trial)}`;
}
