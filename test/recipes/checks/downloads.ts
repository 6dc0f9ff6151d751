import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Trial } from '../trial.ts';
import { expectAllOrNothing, expectFile, expectNothingComplete, expectSuccess } from './expect.ts';
import { busy, cutAfter, shortenTo } from '../faults.ts';

/** Checks that `responses.csv` equals a plain download, and exists only once it is complete. */
export async function checkDownload(trial: Trial): Promise<string> {
  const { body } = await trial.get('/responses/csv');
  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const sum = await expectFile(join(folder, 'responses.csv'), body);

  const middle = Math.floor(body.length / 2);
  const cut = await trial.folder();
  const finished = await trial.run(cut, { faults: [cutAfter(50_000)] });
  await expectAllOrNothing(cut, finished, () => expectFile(join(cut, 'responses.csv'), body));

  const shortened = await trial.folder();
  // Ends after a complete record: only the number of records shows that some are missing.
  const length = body.indexOf('\n', body.indexOf(',consent,', middle)) + 1;
  await expectNothingComplete(shortened, await trial.run(shortened, { faults: [shortenTo(length)] }));
  const refused = await trial.folder();
  await expectNothingComplete(refused, await trial.run(refused, { key: 'sres_wrong' }));
  return `${sum}; no partial file when cut, shortened or refused; ${await checkWaiting(trial)}`;
}

/** Checks that the recipe retries after `Retry-After`, not sooner. */
export async function checkWaiting(trial: Trial): Promise<string> {
  const start = Date.now();
  const finished = await trial.run(await trial.folder(), {
    faults: [busy(429, 1), busy(503, 2)],
  });
  expectSuccess(finished);
  const seconds = (Date.now() - start) / 1000;
  assert.ok(seconds > 2.9, `it waited for ${seconds} s, not for 3`);
  return 'waits for 429 and 503';
}
