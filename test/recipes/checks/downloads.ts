import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Trial } from '../trial.ts';
import { expectFile, expectNothingComplete, expectSuccess } from './expect.ts';
import { busy, cutAfter, noFault, shortenTo } from '../faults.ts';
import { checkMistakes, sentenceOf } from './mistakes.ts';

/** More than any recipe makes. */
const TRIES = 20;

/** Checks that the two files equal plain downloads, and exist only once both are complete. */
export async function checkDownload(trial: Trial): Promise<string> {
  const { body } = await trial.get('/responses/csv');
  const folder = await trial.folder();
  const complete = await trial.run(folder);
  expectSuccess(complete);
  assert.doesNotMatch(complete.stdout, /response>/i, 'it printed an object of its HTTP library');
  const sum = await expectFile(join(folder, 'responses.csv'), body);
  await expectFile(join(folder, 'form-data.csv'), (await trial.get('/responses/form-data')).body);

  const middle = Math.floor(body.length / 2);
  const cut = await trial.folder();
  const finished = await trial.run(cut, { faults: Array(TRIES).fill(cutAfter(50_000)) });
  await expectNothingComplete(cut, finished);
  sentenceOf(finished);

  const shortened = await trial.folder();
  // Ends after a complete record: only the number of records shows that some are missing.
  const length = body.indexOf('\n', body.indexOf(',consent,', middle)) + 1;
  await expectNothingComplete(shortened, await trial.run(shortened, { faults: [shortenTo(length)] }));
  return `${sum}; no partial file when cut or shortened; ${await checkMistakes(trial)}; ${await checkWaiting(trial)}`;
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
  const { body: summary } = await trial.get('/responses/summary', { survey: trial.survey, ...PARTICIPANTS });
  const { participants, left_out: leftOut } = JSON.parse(summary.toString()) as Record<string, number>;
  const args = ['cluster'];
  const folder = await trial.folder();
  const complete = await trial.run(folder, { args });
  expectSuccess(complete);
  assert.equal(complete.stderr, `${leftOut} of ${Number(participants) + Number(leftOut)} participants are left out\n`);
  const sum = await expectFile(join(folder, 'participants.csv'), body);

  const cut = await trial.folder();
  const finished = await trial.run(cut, { args, faults: [noFault, ...Array(TRIES).fill(cutAfter(body.length >> 1))] });
  await expectNothingComplete(cut, finished);

  // A key that no response has, and none.
  for (const wrong of [['clu"ster'], []]) {
    const empty = await trial.folder();
    const failed = await trial.run(empty, { args: wrong });
    await expectNothingComplete(empty, failed);
    assert.match(
      sentenceOf(failed),
      wrong.length > 0 ? /All \d+ participants are left out: .* "clu"ster"/ : /Name a key/,
    );
  }
  return `${sum}; no partial file when cut; fails if everybody is left out; ${await checkMistakes(trial, { args })}`;
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
