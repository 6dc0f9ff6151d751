import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Trial } from '../trial.ts';
import { expectAllOrNothing, expectFile, expectNothingComplete, expectRefused, expectSuccess } from './expect.ts';
import { busy, cutAfter, shortenTo } from '../faults.ts';

/** Checks that the two files equal plain downloads, and exist only once both are complete. */
export async function checkDownload(trial: Trial): Promise<string> {
  const { body } = await trial.get('/responses/csv');
  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const sum = await expectFile(join(folder, 'responses.csv'), body);
  await expectFile(join(folder, 'form-data.csv'), (await trial.get('/responses/form-data')).body);

  const middle = Math.floor(body.length / 2);
  const cut = await trial.folder();
  const finished = await trial.run(cut, { faults: [cutAfter(50_000)] });
  await expectAllOrNothing(cut, finished, () => expectFile(join(cut, 'responses.csv'), body));

  const shortened = await trial.folder();
  // Ends after a complete record: only the number of records shows that some are missing.
  const length = body.indexOf('\n', body.indexOf(',consent,', middle)) + 1;
  await expectNothingComplete(shortened, await trial.run(shortened, { faults: [shortenTo(length)] }));
  await expectRefused(trial);
  return `${sum}; no partial file when cut, shortened or refused, with the service’s message; ${await checkWaiting(trial)}`;
}

/** The parameters of the recipes for one row per participant. */
const PARTICIPANTS = {
  layout: 'wide',
  value: 'translated',
  repeats: 'drop',
  require_metadata: 'cluster',
  metadata: 'cluster',
};

/** Checks that the file equals a plain download, and exists only once it is complete. */
export async function checkParticipants(trial: Trial): Promise<string> {
  const { body } = await trial.get('/responses/csv', { survey: trial.survey, ...PARTICIPANTS });
  const folder = await trial.folder();
  expectSuccess(await trial.run(folder));
  const sum = await expectFile(join(folder, 'participants.csv'), body);
  const cut = await trial.folder();
  const finished = await trial.run(cut, { faults: [cutAfter(Math.floor(body.length / 2))] });
  await expectAllOrNothing(cut, finished, () => expectFile(join(cut, 'participants.csv'), body));
  await expectRefused(trial);
  return `${sum}; no partial file when cut or refused`;
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
