import fc from 'fast-check';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { withClient } from '../support/data.ts';
import { TIMEOUT_MS, effort } from './effort.ts';
import { Audit, type History } from './isolation/audit.ts';
import { change, changePlan } from './isolation/changes.ts';
import { endBriefKeys, issueKeys, startAnew } from './isolation/keys.ts';
import { accountOf, worldPlan } from './isolation/plans.ts';
import { pollOf, pollPlan, requestPlan } from './isolation/requests.ts';
import { storeWorld } from './isolation/store.ts';
import { pickOf } from './isolation/world.ts';
import { withService } from './service.ts';

/** Worlds in `npm test`. */
const WORLDS = 10;
/** What is met in as many worlds, or the test shows little. */
const KINDS = [
  ...['/surveys 200', '/surveys 304', '/surveys 401', '/responses 200', '/responses 304', '/responses 500'],
  ...['/responses/csv 200', '/responses/csv 500', '/responses/csv wide 200', '/responses/csv wide 500'],
  ...['/responses/ndjson 200', '/responses/ndjson 500', '/responses/form-data 200', '/responses/form-data 500'],
].map((kind) => `GET ${kind}`);

const clock = { ahead: 0 };
const service = withService({ entry: 'test/support/worker-with-clock.ts' });

const round = fc.record({
  changes: fc.array(changePlan, { maxLength: 2 }),
  requests: fc.array(requestPlan, { minLength: 8, maxLength: 8 }),
});
const plan = fc
  .noBias(
    fc.record({
      accounts: worldPlan,
      polls: fc.array(pollPlan, { minLength: 2, maxLength: 2 }),
      rounds: fc.array(round, { minLength: 5, maxLength: 8, size: 'max' }),
    }),
  )
  .map((planned) => Object.assign(planned, { [fc.toStringMethod]: () => 'what the seed makes' }));
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

test('an account gets what the model says of it, and nothing of others', { timeout: TIMEOUT_MS }, async () => {
  const history: History = { seen: new Map(), owners: new Map() };
  let worlds = 0;
  let last: Promise<void> | undefined;
  const property = fc.asyncProperty(plan, (planned) => {
    worlds++;
    last = withClient((db) => live(db, planned, history));
    return last;
  });
  await fc.assert(property, effort(WORLDS));
  await last; // when the time is up, nobody has waited for it
  const answers = [...history.seen.values()].reduce((sum, times) => sum + times, 0);
  console.info(`isolation: ${worlds} worlds, ${answers} answers as the model says`);
  const kinds = worlds < WORLDS ? [] : KINDS;
  expect(kinds.filter((kind) => !history.seen.has(kind))).toEqual([]);
});

/** Makes a world, and asks for all that can be asked for while it changes. */
async function live(db: pg.Client, { accounts, polls, rounds }: Plan, history: History): Promise<void> {
  const world = accounts.map(accountOf);
  const polled = polls.map((poll) => pollOf(world, poll));
  const audit = new Audit(world, clock, history);
  startAnew(clock);
  await storeWorld(db, world);
  await issueKeys(db, world, clock);
  await audit.tryKeys(() => true);
  for (const [i, { changes, requests }] of rounds.entries()) {
    for (const planned of changes) {
      const account = await change(world, db, service.stack.worker.keys, planned);
      if (!account) continue;
      clock.ahead += 1000;
      await audit.tryKeys((_, owner) => owner === account);
    }
    if (i === 2) {
      endBriefKeys(world, clock);
      await audit.tryKeys(({ end }) => end !== undefined);
    }
    const asked = requests.map((request) => audit.try(request));
    const poll = pickOf(polled, i);
    await Promise.all([...asked, poll && audit.poll(poll)]);
  }
}
