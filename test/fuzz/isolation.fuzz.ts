import fc from 'fast-check';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { withClient } from '../support/data.ts';
import { TIMEOUT_MS, checkProperty } from './effort.ts';
import { Audit, type History } from './isolation/audit.ts';
import { change, changePlan } from './isolation/changes.ts';
import { expireKeys, issueKeys, advanceClock } from './isolation/keys.ts';
import { accountOf, worldPlan } from './isolation/plans.ts';
import { pollOf, pollPlan, requestPlan } from './isolation/requests.ts';
import { storeWorld } from './isolation/store.ts';
import { pickOf } from './isolation/world.ts';
import { withService } from './service.ts';

/** After this many cases, every kind of response must have occurred. */
const ENOUGH_CASES = 10;
/** Methods, paths and statuses. */
const KINDS = [
  ...['/surveys 200', '/surveys 304', '/surveys 401', '/responses 200', '/responses 304', '/responses 500'],
  ...['/responses/csv 200', '/responses/csv 500', '/responses/csv wide 200', '/responses/csv wide 500'],
  ...['/responses/ndjson 200', '/responses/ndjson 500', '/responses/form-data 200', '/responses/form-data 500'],
  ...['/responses/questions 200', '/responses/questions 500', '/responses/summary 200', '/responses/summary 500'],
].map((kind) => `GET ${kind}`);

const clock = { ahead: 0 };
const service = withService({ entry: 'test/support/worker-under-faults.ts' });

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
  .map((planned) => Object.assign(planned, { [fc.toStringMethod]: () => 'the case that the seed makes' }));
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

test('every response is what the model computes from the data of its account', { timeout: TIMEOUT_MS }, async () => {
  const history: History = { seen: new Map(), owners: new Map() };
  let cases = 0;
  await checkProperty(plan, async (planned) => {
    cases++;
    await withClient((db) => runCase(db, planned, history));
  });
  const passed = [...history.seen.values()].reduce((sum, times) => sum + times, 0);
  console.info(`isolation: ${passed} checks passed, in ${cases} cases`);
  const expected = cases < ENOUGH_CASES ? [] : KINDS;
  expect(expected.filter((kind) => !history.seen.has(kind))).toEqual([]);
});

/** Stores accounts and sends their requests while the data changes. */
async function runCase(db: pg.Client, { accounts, polls, rounds }: Plan, history: History): Promise<void> {
  const world = accounts.map(accountOf);
  const polled = polls.map((poll) => pollOf(world, poll));
  const audit = new Audit(world, clock, history);
  advanceClock(clock);
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
      expireKeys(world, clock);
      await audit.tryKeys(({ expires }) => expires !== undefined);
    }
    const sent = requests.map((request) => audit.try(request));
    const poll = pickOf(polled, i);
    await Promise.all([...sent, poll && audit.poll(poll)]);
  }
}
