import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../../support/fault-proxy.ts';
import { pick } from '../../support/random.ts';
import { killBackends } from './kill.ts';
import { cuts, endEarly, loseRows } from './spoilt-bodies.ts';

/** Spoils one request between the Worker and its database. */
export interface MatrixFault {
  readonly name: string;
  readonly spoil: (exchange: Exchange, random: () => number) => Promise<void> | void;
  /** The statuses of a refusal that may come of it. Without any the answer has to come whole: asking again helps. */
  readonly refusals: readonly number[];
}

/** Good JSON, but no answer to the question. */
const SHAPES = [
  'null',
  '[]',
  '{}',
  '"rows"',
  '{"rows":{}}',
  '{"rows":[]}',
  '{"rows":[[null]],"rowCount":1}',
  '{"fields":[],"rows":[],"rowCount":7,"command":"SELECT"}',
  '{"fields":[{"name":"a","dataTypeID":25}],"rows":[],"rowCount":7,"command":"SELECT"}',
  '{"fields":[{"name":"a","dataTypeID":25}],"rows":[["x","y"]],"rowCount":1,"command":"SELECT"}',
  '{"fields":[{"name":"a","dataTypeID":25}],"rows":["x"],"rowCount":1,"command":"SELECT"}',
];

/** Whole, but of no query of ours: none has three columns. */
const ANOTHER = [[], [['x', 'y', 'z']]].map((rows) => {
  const fields = ['a', 'b', 'c'].map((name) => ({ name, dataTypeID: 25 }));
  return JSON.stringify({ fields, rows, rowCount: rows.length, command: 'SELECT' });
});

const GARBAGE = ['<html>', '', '{"rows":[[', '\u0000', '{"fields"'];

const transient: Record<string, MatrixFault['spoil']> = {
  latency: (_, random) => sleep(10 + 100 * random()),
  429: (exchange) => exchange.reply(429, 'slow down'),
  500: (exchange) => exchange.reply(500, '{"message":"failed to wake up the compute"}'),
  503: (exchange) => exchange.reply(503, 'no'),
  '520 to 530': (exchange, random) => exchange.reply(520 + Math.floor(11 * random()), 'error code: 52x'),
  reset: (exchange) => exchange.reset(),
  ...Object.fromEntries(
    Object.entries(cuts).map(([where, cut]) => [
      `a body cut ${where}`,
      (exchange, random) => exchange.cutAfter((body) => cut(body, random)),
    ]),
  ),
  'a body that ends early': (exchange, random) => exchange.change((body) => endEarly(body, random)),
  garbage: (exchange, random) => exchange.reply(200, pick(random, GARBAGE)),
  'the wrong shape': (exchange, random) => exchange.reply(200, pick(random, SHAPES)),
  'another query’s answer': (exchange, random) => exchange.reply(200, pick(random, ANOTHER)),
  'fewer rows': (exchange, random) => exchange.change((body) => loseRows(body, random)),
  'a killed backend': (_, random) => {
    void sleep(8 * random()).then(killBackends);
  },
};

/** Those after which asking again helps. */
export const passing: readonly MatrixFault[] = Object.entries(transient).map(([name, spoil]) => ({
  name,
  spoil,
  refusals: [],
}));

export const usedUp: MatrixFault = {
  name: 'a quota that is used up',
  refusals: [503],
  spoil: (exchange) => exchange.reply(500, '{"message":"Your account has exceeded the compute time quota."}'),
};

export const faults: readonly MatrixFault[] = [
  ...passing,
  usedUp,
  {
    name: '507',
    refusals: [503, 400],
    spoil: (exchange) => exchange.reply(507, 'response is too large (max is 67108864 bytes)'),
  },
  {
    name: 'a defect',
    refusals: [500],
    spoil: (exchange) => exchange.reply(400, '{"message":"no such table","code":"42P01","severity":"ERROR"}'),
  },
];

/** What the cache of keys does, by the names that test/support/worker-under-faults.ts gives it. */
export const cacheFaults = [
  'rejects',
  'hangs',
  'is slow',
  'holds another form of entry',
  'holds half an entry',
  'holds a text',
] as const;
