import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectEqual, expectThat } from '../verify/expect.ts';
import type { Check } from '../verify/run-checks.ts';
import type { Identity } from './endpoint.ts';
import { type Target, pick } from './protocol.ts';

/** Connections that a check tries to use at the same time. */
const AT_THE_SAME_TIME = 3;
/** How long a statement takes to start, or to end after its client has disconnected; milliseconds. */
const SETTLE_MS = 15_000;

/** What the Worker expects of the sessions that requests share, and of their end. It does not rely on details. */
export const SESSION_CHECKS: readonly Check<Target>[] = [
  {
    name: 'results that are requested at the same time are not mixed up',
    async run({ endpoint }) {
      const numbers = Array.from({ length: 40 }, (_, i) => String(i));
      const results = await Promise.all(numbers.map((i) => endpoint.rowsOf('select $1, pg_sleep(0.001)::text', [i])));
      expectEqual(
        'results',
        results,
        numbers.map((i) => [[i, '']]),
      );
    },
  },
  {
    name: 'statements have the privileges of the connection string’s role',
    async run({ endpoint, schema, role }) {
      const query = `select current_user, id from ${schema}.notes where id = 1`;
      expectEqual('rows', await endpoint.rowsOf(query, [], endpoint.as(roleOf(role))), [[role.name, '1']]);
      const refused = await endpoint.failure({ query: `delete from ${schema}.notes` }, endpoint.as(roleOf(role)));
      expectEqual('a write', pick(refused, ['status', 'code']), { status: 400, code: '42501' });
    },
  },
  {
    name: 'the role’s settings hold for every request',
    async run({ endpoint, role }) {
      const settings = Object.keys(role.settings).map((name) => `current_setting('${name}')`);
      const query = `select ${settings.join()}`;
      for (let i = 0; i < 3; i++)
        expectEqual('settings', await endpoint.rowsOf(query, [], endpoint.as(roleOf(role))), [
          Object.values(role.settings),
        ]);
    },
  },
  {
    name: 'a role’s settings do not reach the requests of another',
    async run({ endpoint, owner, role }) {
      for (const one of [roleOf(role), {}, roleOf(role), {}]) {
        const query = `select current_user, current_setting('enable_bitmapscan'), pg_sleep(0.01)::text`;
        const requests = Array.from({ length: AT_THE_SAME_TIME }, () => endpoint.rowsOf(query, [], endpoint.as(one)));
        const row = 'user' in one ? [role.name, 'off', ''] : [owner, 'on', ''];
        expectEqual(
          'user and setting',
          await Promise.all(requests),
          requests.map(() => [row]),
        );
      }
    },
  },
  {
    // A pooler in transaction mode shares sessions and what is left in them: https://neon.com/docs/connect/connection-pooling
    name: 'a request leaves no setting, temporary table or transaction behind',
    isDetail: true,
    async run({ endpoint, schema, directly }) {
      for (const query of ['set verify.setting = 1', 'create temporary table verify_left ()', 'begin'])
        expectEqual(query, (await endpoint.post({ query })).status, 200);
      await endpoint.rowsOf(`insert into ${schema}.notes values (30, 'kept')`);
      const kept = await directly(`delete from ${schema}.notes where id = 30 returning id`);
      expectEqual('a row stored after an open transaction', kept, [[30]]);
      const query = `select nullif(current_setting('verify.setting', true), ''), to_regclass('verify_left')::text`;
      for (let i = 0; i < 4; i++) expectEqual('setting and table', await endpoint.rowsOf(query), [[null, null]]);
    },
  },
  {
    name: 'a statement of the role ends when its client disconnects',
    run: (target) => disconnect(target, roleOf(target.role)),
  },
  {
    // Without the role's client_connection_check_interval, only a cancel request ends it.
    name: 'a statement of the owner is cancelled when its client disconnects',
    isDetail: true,
    run: (target) => disconnect(target, {}),
  },
];

/** Runs a statement and disconnects. @returns how long the statement continued */
async function disconnect({ endpoint, directly }: Target, identity: Identity): Promise<string> {
  const key = String(randomInt(2 ** 31)); // every user sees who has a lock
  const isRunning = async () =>
    (await directly(`select from pg_locks where locktype = 'advisory' and classid = 0 and objid::text = $1`, [key]))
      .length > 0;
  const leaving = new AbortController();
  const query = `select pg_advisory_xact_lock(${key})::text, pg_sleep(60)::text`;
  const request = endpoint
    .post({ query }, endpoint.as(identity), leaving.signal)
    .then(({ status }) => `it ended with ${status}`, String);
  const started = await Promise.race([request, until(isRunning)]);
  expectThat(started === true, String(started || 'it does not start'));
  leaving.abort();
  const left = performance.now();
  const hasEnded = await until(async () => !(await isRunning()));
  expectThat(hasEnded, `it is still running after ${SETTLE_MS / 1000} s`);
  return `after ${Math.round(performance.now() - left)} ms`;
}

const roleOf = ({ name, password }: Target['role']): Identity =>
  password === undefined ? { user: name } : { user: name, password };

/** @returns whether a condition has become true within some seconds */
async function until(condition: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline; await sleep(100))
    if (await condition()) return true;
  return false;
}
