import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestSurvey, copyResponses } from '../support/data.ts';
import { pick, randomFrom } from '../support/random.ts';
import { cacheFaults, faults } from './matrix/faults.ts';
import { type Kind, createTwins, kindsOf } from './matrix/kinds.ts';
import { Tally } from './matrix/tally.ts';
import { type Plan, run } from './matrix/trial.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService({
  entry: 'test/support/worker-with-faulty-keys.ts',
  vars: { EXPORT_RETRY_SECONDS: '20' }, // longer than a restart takes
});
const random = randomFrom(20_260_301);
const tally = new Tally();
let kinds: Kind[] = [];
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createTwins();
  kinds = await kindsOf(survey, async (work) => {
    service.proxy.inject();
    await work();
    return service.proxy.requests;
  });
});

test('without a fault the file is what COPY gives', async () => {
  expect(kinds[0]?.whole.equals(await copyResponses(survey))).toBe(true);
});

afterAll(() => {
  process.stdout.write(`${tally.toString()}\n`);
});

/** Runs trials over kinds, and wants all of them the same or visibly failed. */
async function expectWholeOrFailed(
  of: readonly Kind[],
  plans: (kind: Kind) => { plan: Plan; cache?: string }[],
): Promise<void> {
  const own = new Tally();
  for (const kind of of) for (const each of plans(kind)) await run({ kind, ...each }, service.proxy, random, own);
  for (const field of ['injected', 'exports', 'same', 'visible', 'answersCompared', 'answersLost'] as const)
    tally[field] += own[field];
  expect(own.wrong).toEqual([]);
  expect(own.injected).toBeGreaterThanOrEqual(of.length);
}

const anywhere = ({ requests }: Kind) => Math.floor(random() * requests);

describe('whatever is asked for comes whole or visibly fails', () => {
  test.each(Object.keys(faults))('under one fault: %s', async (name) => {
    await expectWholeOrFailed(kinds, (kind) => [{ plan: new Map([[anywhere(kind), name]]) }]);
  });

  test('under fewer rows than there should be, at each request', async () => {
    await expectWholeOrFailed(
      kinds.filter(({ name }) => ['ndjson', 'wide', 'a page'].includes(name)),
      (kind) => Array.from({ length: kind.requests }, (_, at) => ({ plan: new Map([[at, 'fewer rows']]) })),
    );
  });

  test('under two faults', async () => {
    await expectWholeOrFailed(kinds, (kind) => [
      { plan: new Map([0, 1].map(() => [anywhere(kind), pick(random, Object.keys(faults))])) },
    ]);
  });

  test.each(cacheFaults)('with a cache of keys that %s, and a fault', async (cache) => {
    await expectWholeOrFailed(
      kinds.filter((_, i) => i % 4 === 0),
      (kind) => [{ plan: new Map([[anywhere(kind), pick(random, ['503', 'reset', 'fewer rows'])]]), cache }],
    );
  });
});

test('everything comes whole although the database is stopped and started again meanwhile', async () => {
  for (const kind of kinds) {
    let restarted: Promise<void> | undefined;
    const at = anywhere(kind);
    service.proxy.inject(({ index }) => {
      if (index === at) restarted = service.stack.restartDatabase();
    });
    const { status, complete, bytes } = await kind.ask();
    await restarted;
    tally.injected++;
    tally.exports++;
    expect({ kind: kind.name, at, status, complete, same: bytes.equals(kind.whole) }).toEqual({
      kind: kind.name,
      at,
      status: 200,
      complete: true,
      same: true,
    });
    tally.same++;
  }
});
