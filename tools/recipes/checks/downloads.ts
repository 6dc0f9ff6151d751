import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Trial } from '../trial.ts';
import { expectAllOrNothing, expectFile, expectNothingComplete, expectSuccess } from './expect.ts';

/** `responses.csv` is what a plain download is, and is there only when all of it is. */
export async function checkDownload(trial: Trial): Promise<string> {
  const { body } = await trial.get('/responses/csv');
  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const sum = await expectFile(join(folder, 'responses.csv'), body);

  const middle = Math.floor(body.length / 2);
  const cut = await trial.folder();
  const ended = await trial.run(cut, { faults: [{ cutAfter: 50_000 }] });
  await expectAllOrNothing(cut, ended, () => expectFile(join(cut, 'responses.csv'), body));

  const shortened = await trial.folder();
  // Behind a complete record: only the number of them says that some are missing.
  const shortenTo = body.indexOf('\n', body.indexOf(',consent,', middle)) + 1;
  await expectNothingComplete(shortened, await trial.run(shortened, { faults: [{ shortenTo }] }));
  const refused = await trial.folder();
  await expectNothingComplete(refused, await trial.run(refused, { key: 'sres_wrong' }));
  return `${sum}; nothing half when cut, shortened or refused; ${await checkWaiting(trial)}`;
}

/** Comes back when it is told to, and no sooner. */
export async function checkWaiting(trial: Trial): Promise<string> {
  const start = Date.now();
  const ended = await trial.run(await trial.folder(), {
    faults: [
      { busy: 429, retryAfter: 1 },
      { busy: 503, retryAfter: 2 },
    ],
  });
  expectSuccess(ended);
  const seconds = (Date.now() - start) / 1000;
  assert.ok(seconds > 2.9, `it waited for ${seconds} s, not for 3`);
  return 'waits for 429 and 503';
}
