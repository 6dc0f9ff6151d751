import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../support/data.ts';
import type { Exchange } from '../../support/fault-proxy.ts';
import { pick } from '../../support/random.ts';

/** Spoils one request between the Worker and its database. */
export type MatrixFault = (exchange: Exchange, random: () => number) => Promise<void> | void;

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

/** Takes rows away, but not their number. */
function shorten(body: string, random: () => number): string {
  const answer = JSON.parse(body) as { rows: unknown[] };
  const at = Math.floor(random() * answer.rows.length);
  return JSON.stringify({ ...answer, rows: random() < 0.5 ? answer.rows.slice(0, at) : answer.rows.toSpliced(at, 1) });
}

const killAll = () =>
  sql(`select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`);

export const faults: Readonly<Record<string, MatrixFault>> = {
  latency: (_, random) => sleep(10 + 100 * random()),
  429: (exchange) => exchange.reply(429, 'slow down'),
  500: (exchange) => exchange.reply(500, '{"message":"failed to wake up the compute"}'),
  503: (exchange) => exchange.reply(503, 'no'),
  507: (exchange) => exchange.reply(507, 'response is too large (max is 67108864 bytes)'),
  reset: (exchange) => exchange.reset(),
  'a cut body': (exchange, random) => exchange.cutAfter((length) => Math.max(1, Math.floor(random() * length))),
  garbage: (exchange, random) => exchange.reply(200, pick(random, ['<html>', '', '{"rows":[[', '\u0000', '{"fields"'])),
  'the wrong shape': (exchange, random) => exchange.reply(200, pick(random, SHAPES)),
  'fewer rows': (exchange, random) => exchange.change((body) => shorten(body, random)),
  'a killed backend': (_, random) => {
    void sleep(8 * random())
      .then(killAll)
      .catch(() => {}); // the connection that kills may meet another one's kill, or a restart
  },
  'a defect': (exchange) => exchange.reply(400, '{"message":"no such table","code":"42P01","severity":"ERROR"}'),
};

/** What the cache of keys does, by the name that test/support/worker-with-faulty-keys.ts gives it. */
export const cacheFaults = ['rejects', 'hangs', 'is slow', 'lies'] as const;
