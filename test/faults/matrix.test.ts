import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyResponses } from '../support/data.ts';
import { pick, randomFrom } from '../support/random.ts';
import { type MatrixFault, cacheFaults, faults, passing, usedUp } from './matrix/faults.ts';
import type { Kind } from './matrix/kinds.ts';
import { sharedRestart } from './matrix/restart.ts';
import { Tally } from './matrix/tally.ts';
import { type Trial, runAll } from './matrix/trial.ts';
import { type World, createWorld } from './matrix/world.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService({
  entry: 'test/support/worker-under-faults.ts',
  vars: { EXPORT_RETRY_SECONDS: '20' }, // longer than a restart takes
  limits: { KEY_LIMIT: 1e9 },
});
/** Trials side by side. */
const AT_A_TIME = 8;
const random = randomFrom(20_260_301);
const tally = new Tally();
let world: World;

beforeAll(async () => {
  world = await createWorld(service.proxy);
});

afterAll(() => {
  process.stdout.write(`${tally.toString()}\n`);
});

/** Runs trials, and wants all of them the same or visibly failed. */
async function expectWholeOrFailed(trials: readonly Trial[], atATime = AT_A_TIME): Promise<Tally> {
  const own = new Tally();
  await runAll(trials, atATime, { proxy: service.proxy, random, tally: own });
  tally.add(own);
  expect(own.wrong).toEqual([]);
  return own;
}

const anywhere = ({ requests }: Kind) => Math.floor(random() * requests);
const everywhere = ({ requests }: Kind) => Array.from({ length: requests }, (_, at) => at);
/** The first request, the last, and one between them. */
const spread = ({ requests }: Kind) => [0, 1 + Math.floor(random() * (requests - 2)), requests - 1];
const inTheMiddle = (kind: Kind) => spread(kind).slice(1, 2);

test('without a fault the file is what COPY gives', async () => {
  expect(world.small[0]?.whole.equals(await copyResponses(world.survey))).toBe(true);
});

test('the answers take the requests that they are here for', () => {
  const requests = (kinds: readonly Kind[]) => kinds.map((kind) => kind.requests);
  expect(Math.max(...requests(world.small))).toBeLessThanOrEqual(6);
  expect(Math.min(...requests(world.inParts))).toBeGreaterThanOrEqual(6);
  expect(Math.min(...requests(world.large))).toBeGreaterThanOrEqual(7);
});

describe('whatever is asked for comes whole or visibly fails', () => {
  test.each(faults)('under one fault: $name', async (fault) => {
    const trials = (kinds: readonly Kind[], places: (kind: Kind) => number[]): Trial[] =>
      kinds.flatMap((kind) => places(kind).map((at) => ({ kind, plan: new Map([[at, fault]]) })));
    const { unmet } = await expectWholeOrFailed([
      ...trials(world.small, everywhere),
      ...trials(world.inParts, inTheMiddle),
      ...trials(
        world.large.filter((_, i) => i % 2 === faults.indexOf(fault) % 2),
        inTheMiddle,
      ),
    ]);
    expect(unmet).toEqual([]);
  });

  test.each([2, 3])('under %i faults', async (many) => {
    const kinds = [...world.small, ...world.inParts, ...world.large];
    const plan = (kind: Kind) =>
      new Map(Array.from({ length: many }, (): [number, MatrixFault] => [anywhere(kind), pick(random, faults)]));
    await expectWholeOrFailed(kinds.map((kind) => ({ kind, plan: plan(kind) })));
  });

  test.each(cacheFaults)('with a cache of keys that %s, and with a fault as well', async (cache) => {
    const passes = (kind: Kind) => new Map([[anywhere(kind), pick(random, passing)]]);
    const trials = world.small.flatMap((kind) => [new Map(), passes(kind)].map((plan) => ({ kind, plan, cache })));
    await expectWholeOrFailed(trials, trials.length);
    // Requests look keys up together: all of these meet the same failure.
    const refused = world.small.map((kind) => ({ kind, plan: new Map([[0, usedUp]]), cache }));
    await expectWholeOrFailed(refused, refused.length);
  });
});

test.each([
  ['first', 0],
  ['middle', 1],
  ['last', 2],
])('everything comes whole when the database is stopped and started at its %s request', async (_, which) => {
  const kinds = [...world.small, ...world.inParts, ...world.large];
  const restart = sharedRestart(kinds.length, () => service.stack.restartDatabase());
  const trials = kinds.map((kind) => ({ kind, plan: new Map([[spread(kind)[which] ?? 0, restart.fault]]) }));
  await expectWholeOrFailed(trials, trials.length);
  await restart.done();
  tally.restarts++;
});
