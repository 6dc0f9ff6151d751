import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../support/data.ts';
import { type Random, below, pick } from '../../support/random.ts';
import type { InjectedFault } from './fault.ts';

/**
 * Bodies that are not JSON, not a result, or a complete result of another query: none of ours has
 * three columns.
 */
const GARBAGE = [
  '<html>',
  '',
  '{"rows":[[',
  'null',
  '{}',
  '{"rows":[[null]],"rowCount":1}',
  '{"fields":[{"name":"a","dataTypeID":25}],"rows":["x"],"rowCount":1,"command":"SELECT"}',
  '{"fields":[{"name":"a","dataTypeID":25}],"rows":[["x","y"]],"rowCount":1,"command":"SELECT"}',
  ...[[], [['x', 'y', 'z']]].map((rows) => {
    const fields = ['a', 'b', 'c'].map((name) => ({ name, dataTypeID: 25 }));
    return JSON.stringify({ fields, rows, rowCount: rows.length, command: 'SELECT' });
  }),
];

const anywhere = (body: Buffer, random: Random) => below(random, body.length);

/** The byte offsets at which a body ends, by name. */
const CUTS: Readonly<Record<string, (body: Buffer, random: Random) => number>> = {
  'at byte 0': () => 0,
  'within a character': (body, random) => {
    const start = anywhere(body, random);
    const within = body.findIndex((byte, i) => i >= start && byte >> 6 === 0b10);
    return within < 0 ? start : within;
  },
  'before its last byte': (body) => body.length - 1,
  'after a row': (body, random) => body.lastIndexOf('],[', anywhere(body, random)) + 1,
  anywhere,
};

const transient: Readonly<Record<string, InjectedFault['inject']>> = {
  latency: (_, random) => sleep(10 + 100 * random()),
  429: (exchange) => exchange.reply(429, 'slow down'),
  500: (exchange) => exchange.reply(500, '{"message":"failed to wake up the compute"}'),
  503: (exchange) => exchange.reply(503, 'no'),
  '520 to 530': (exchange, random) => exchange.reply(520 + below(random, 11), 'error code: 52x'),
  reset: (exchange) => exchange.reset(),
  ...Object.fromEntries(
    Object.entries(CUTS).map(([where, cut]) => [
      `a body cut ${where}`,
      (exchange, random) => exchange.cutAfter((body) => cut(body, random)),
    ]),
  ),
  'a body that ends early': (exchange, random) =>
    exchange.change((body) => body.subarray(0, pick(random, Object.values(CUTS))(body, random))),
  garbage: (exchange, random) => exchange.reply(200, pick(random, GARBAGE)),
  'a killed backend': (_, random) => {
    void sleep(8 * random()).then(killBackends);
  },
};

/** Terminates the Worker's connections. Does nothing while the server restarts. */
const killBackends = () =>
  sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'survey_export_worker'`,
  ).catch(() => {});

/** Faults after which a retry succeeds. */
export const passing: readonly InjectedFault[] = Object.entries(transient).map(
  ([name, inject]) => ({ name, inject }),
);

const QUOTA = '{"message":"Your account has exceeded the compute time quota."}';
const DISABLED =
  '{"message":"The endpoint has been disabled. Enable it using the API and retry.","code":null}';
const NO_TABLE = '{"message":"no such table","code":"42P01","severity":"ERROR"}';

/** Faults that a retry does not overcome: they abort transfers. */
export const lasting: readonly InjectedFault[] = [
  { name: 'an exhausted quota', refusals: [503], inject: (exchange) => exchange.reply(500, QUOTA) },
  {
    name: 'a disabled compute',
    refusals: [503],
    inject: (exchange) => exchange.reply(400, DISABLED),
  },
  {
    name: '507',
    refusals: [503, 400],
    inject: (exchange) => exchange.reply(507, 'response is too large'),
  },
  { name: 'a defect', refusals: [500], inject: (exchange) => exchange.reply(400, NO_TABLE) },
];
