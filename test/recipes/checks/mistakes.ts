import assert from 'node:assert/strict';
import type { Fault } from '../../support/fault-proxy.ts';
import { noFault } from '../faults.ts';
import type { Finished } from '../programs.ts';
import type { Trial } from '../trial.ts';
import { expectNothingComplete } from './expect.ts';

/** A closed port. */
const NOWHERE = 'http://127.0.0.1:1/api/v1';
/** Rscript prints it after each error. */
const HALTED = 'Execution halted';

/** As from a proxy, not from the service. */
const badGateway: Fault = (exchange) => exchange.reply(502, '<html>\n<h1>Bad gateway</h1>\n</html>\n');

/**
 * Checks that what is wrong gives one sentence on stderr, a status other than 0, and no file that looks complete, at once.
 *
 * @param emptyIsMistake whether a survey without responses is one
 * @param args of the recipe
 */
export async function checkMistakes(
  trial: Trial,
  {
    needsSurvey = true,
    emptyIsMistake = needsSurvey,
    args = [],
  }: { needsSurvey?: boolean; emptyIsMistake?: boolean; args?: readonly string[] } = {},
): Promise<string> {
  const mistakes: [env: NodeJS.ProcessEnv, message: RegExp, fault?: Fault][] = [
    [{}, /502/, badGateway],
    [{ SURVEY_KEY: '' }, /\bSURVEY_KEY\b/],
    [{ SURVEY_KEY: 'sres_wrong' }, /Invalid Token\./],
    [{ SURVEY_API: NOWHERE }, /127\.0\.0\.1.*(?:connect|refused)/i],
  ];
  if (needsSurvey) {
    mistakes.push(
      [{ SURVEY: '' }, /\bSURVEY\b/],
      [{ SURVEY: 'no "such" survey' }, /No responses were found for survey: no \\?"such\\?" survey for user: /],
    );
  }
  if (emptyIsMistake)
    mistakes.push([{ SURVEY: trial.emptySurvey }, /No responses were found for survey: .*Pilot.* for user: /]);
  for (const [env, message, fault = noFault] of mistakes) {
    const folder = await trial.folder();
    const finished = await trial.run(folder, { env, args, faults: [fault, fault] });
    await expectNothingComplete(folder, finished);
    assert.match(sentenceOf(finished), message, JSON.stringify(env));
    assert.ok(finished.requests <= 3, `it sent ${finished.requests} requests with ${JSON.stringify(env)}`);
  }
  return `${mistakes.length} mistakes give one sentence each`;
}

/** @returns what a failed program printed on stderr, which must be one line */
export function sentenceOf({ stderr }: Pick<Finished, 'stderr'>): string {
  const lines = stderr.split('\n').filter((line) => line !== '' && line !== HALTED);
  assert.equal(lines.length, 1, `not one sentence: ${stderr}`);
  return lines[0] ?? '';
}
