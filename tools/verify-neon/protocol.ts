import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { neon, neonConfig } from '@neondatabase/serverless';
import { expectEqual, expectThat } from '../verify/expect.ts';
import type { Check } from '../verify/run-checks.ts';
import type { SqlEndpoint } from './endpoint.ts';

/** An endpoint, and what its checks need. */
export interface Target {
  readonly endpoint: SqlEndpoint;
  /** The rows of a statement that the database runs for the same user without the endpoint. */
  readonly directly: (query: string, params?: unknown[]) => Promise<unknown[][]>;
  /** Has the tables of {@link createTables}. Quoted where necessary. */
  readonly schema: string;
  /** The user of the endpoint's connection string. */
  readonly owner: string;
  /** A role that may read the table `notes`, and only that. */
  readonly role: {
    readonly name: string;
    readonly password?: string;
    /** Its settings (`ALTER ROLE … SET`), as `current_setting` shows them. They include `enable_bitmapscan = off`. */
    readonly settings: Readonly<Record<string, string>>;
  };
  /** A longer response is 507; longer requests are 413. In bytes. */
  readonly limit: number;
}

/** What the checks read and write. */
export const createTables = (schema: string) => `
  create table ${schema}.notes (id integer primary key, body text);
  insert into ${schema}.notes values (1, 'one'), (2, null);
  create table ${schema}.log (line text);`;

/** Connections that a check tries to use at the same time. */
const AT_THE_SAME_TIME = 3;
/** How long a statement takes to start, or to end after it was cancelled; milliseconds. */
const SETTLE_MS = 15_000;

const CONNECTION = 'Neon-Connection-String';
const COPY_REFUSED = {
  code: '',
  message: 'error parsing response from server: invalid message length: expected buffer to be empty',
};

/**
 * How Neon's SQL-over-HTTP proxy behaves, as the Worker and its driver rely on it, and as tools/sql-gateway.ts does. Those marked
 * as details are not relied on.
 */
export const PROTOCOL_CHECKS: readonly Check<Target>[] = [
  {
    name: 'a result has fields, rows and rowCount, as JSON without spaces',
    async run({ endpoint, schema }) {
      const query = `select id, body from ${schema}.notes order by id`;
      const { text, headers } = await endpoint.post({ query, params: [] });
      const { fields, rows, rowCount } = JSON.parse(text) as { fields: object[]; rows: unknown; rowCount: unknown };
      expectEqual('rows', rows, [
        ['1', 'one'],
        ['2', null],
      ]);
      expectEqual('rowCount', rowCount, 2);
      expectEqual(
        'names and types of the fields',
        fields.map((field) => Object.values(pick(field, ['name', 'dataTypeID']))),
        [
          ['id', 23],
          ['body', 25],
        ],
      );
      expectEqual('body', text, JSON.stringify(JSON.parse(text)));
      expectThat(/^application\/json\b/.test(headers.get('content-type') ?? ''), 'the Content-Type is not JSON');
    },
  },
  {
    name: 'a result’s members are in the order of Neon’s proxy, with neon-request-id',
    isDetail: true,
    async run({ endpoint, schema }) {
      const { text, headers } = await endpoint.post({ query: `select id, body from ${schema}.notes`, params: [] });
      const table = /"tableID":([1-9]\d*)/.exec(text)?.[1];
      const rest = '"dataTypeModifier":-1,"format":"text"}';
      expectEqual(
        'body',
        text.replace(/"rows":\[.*\],"command"/, '"rows":[…],"command"'),
        `{"fields":[{"name":"id","dataTypeID":23,"tableID":${table},"columnID":1,"dataTypeSize":4,${rest},` +
          `{"name":"body","dataTypeID":25,"tableID":${table},"columnID":2,"dataTypeSize":-1,${rest}],` +
          `"rows":[…],"command":"SELECT","rowCount":2,"rowAsArray":true}`,
      );
      expectThat(/^[\da-f-]{36}$/.test(headers.get('neon-request-id') ?? ''), 'no neon-request-id');
    },
  },
  ...resultsOf([
    ['no rows', () => 'select 1 where false', { rows: [], command: 'SELECT', rowCount: 0 }],
    ['rows without columns', (schema) => `select from ${schema}.notes`, { fields: [], rows: [[], []], rowCount: 2 }],
    ['UPDATE', (schema) => `update ${schema}.notes set body = body`, { rows: [], command: 'UPDATE', rowCount: 2 }],
    ['INSERT', (schema) => `insert into ${schema}.log values ('a'), ('b')`, { command: 'INSERT', rowCount: 2 }],
    ['SET', () => 'set search_path = public', { command: 'SET', rowCount: null }],
    ['an empty text', () => '', { fields: [], rows: [], command: '', rowCount: null }],
  ]),
  {
    name: 'values come as Postgres prints them',
    async run({ endpoint }) {
      const query = `select true, 1.50, '{"a":1}'::jsonb, '2026-03-01 00:03:43.770047Z'::timestamptz`;
      const values = ['t', '1.50', '{"a": 1}', '2026-03-01 00:03:43.770047+00'];
      expectEqual('values', await endpoint.rowsOf(query), [values]);
    },
  },
  {
    name: 'every character comes unchanged',
    async run({ endpoint }) {
      const all = Array.from({ length: 0x250 }, (_, i) => String.fromCodePoint(i + 1)).join('');
      const text = `${all} 🐘 \u2028 "\\" ${'"\n'.repeat(9000)}`;
      const rows = await endpoint.rowsOf('select $1::text, $2::text, $3::text', [text, '', null]);
      expectEqual('values', rows, [[text, '', null]]);
    },
  },
  ...[10_000, 200_000].map((length): Check<Target> => ({
    name: `values of ${length} characters that must all be escaped`,
    async run({ endpoint }) {
      const columns = Array.from({ length: 12 }, () => `repeat(E'\\x01', ${length})`);
      const [row = []] = await endpoint.rowsOf(`select ${columns.join()}`);
      expectThat(row.length === 12 && row.every((text) => text === '\u0001'.repeat(length)), 'the values differ');
    },
  })),
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
    name: 'the driver gets results, and sends parameters of every type',
    run: ({ endpoint, schema }) =>
      withDriver(endpoint, async (sql) => {
        const rows = await sql.query(`select id, body from ${schema}.notes where id = $1`, [1]);
        expectEqual('rows', rows, [{ id: 1, body: 'one' }]);
        const values = await sql`select ${['a"', null]}::text[] as a, ${true}::bool as b, ${{ c: 1 }}::jsonb as c`;
        expectEqual('parameters', values, [{ a: ['a"', null], b: true, c: { c: 1 } }]);
      }),
  },
  {
    name: 'the driver gets errors with their fields',
    run: ({ endpoint, schema }) =>
      withDriver(endpoint, async (sql) => {
        const error: unknown = await sql.query(`select nope from ${schema}.notes`).then(String, (one: unknown) => one);
        const fields = ['name', 'code', 'severity', 'position'];
        const expected = { name: 'NeonDbError', code: '42703', severity: 'ERROR', position: '8' };
        expectEqual('the error', pick(error, fields), expected);
      }),
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
      const names = Object.keys(role.settings);
      const settings = names.map((name) => `current_setting('${name}')`).join(', ');
      const values = Object.values(role.settings);
      for (let i = 0; i < 3; i++) {
        expectEqual('settings', await endpoint.rowsOf(`select ${settings}`, [], endpoint.as(roleOf(role))), [values]);
        const changed = `select set_config('enable_bitmapscan', 'on', false)`;
        expectEqual('a changed one', await endpoint.rowsOf(changed, [], endpoint.as(roleOf(role))), [['on']]);
      }
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
    name: 'a request leaves no setting, temporary table or transaction behind',
    async run({ endpoint, schema, directly }) {
      for (const query of ['set statement_timeout = 12345', 'create temporary table scratch (a int)', 'begin'])
        expectEqual(query, (await endpoint.post({ query })).status, 200);
      const defaults = await directly('show statement_timeout');
      for (let i = 0; i < 4; i++) {
        const query = `select current_setting('statement_timeout'), to_regclass('scratch')::text`;
        expectEqual('the next request', await endpoint.rowsOf(query), [[...(defaults[0] ?? []), null]]);
      }
      await endpoint.post({ query: 'begin' });
      await endpoint.rowsOf(`insert into ${schema}.notes values (30, 'kept')`);
      const kept = await directly(`delete from ${schema}.notes where id = 30 returning id`);
      expectEqual('a row stored after an open transaction', kept, [[30]]);
    },
  },
  ...refusals([
    ['a syntax error', () => 'selec 1', { code: '42601', severity: 'ERROR', position: '1' }],
    ['several statements in one', () => 'select 1; select 2', { code: '42601' }],
    ['a division by zero', () => 'select 1/0', { code: '22012' }],
    ['a cancelled statement', () => 'select pg_cancel_backend(pg_backend_pid()), pg_sleep(5)', { code: '57014' }],
  ]),
  ...refusals(
    [
      ['COPY to the client', (schema) => `copy ${schema}.notes to stdout`, COPY_REFUSED],
      ['COPY of nothing', () => 'copy (select where false) to stdout', COPY_REFUSED],
      ['COPY from the client', (schema) => `copy ${schema}.notes from stdin`, COPY_REFUSED],
    ],
    true,
  ),
  {
    name: 'errors have all the fields of Neon’s',
    isDetail: true,
    async run({ endpoint }) {
      const names = Object.keys(await endpoint.failure({ query: 'select 1/0' })).slice(1);
      expectEqual(
        'fields',
        names.join(),
        'message,code,detail,hint,position,internalPosition,internalQuery,severity,where,table,column,schema,dataType,constraint,file,line,routine',
      );
    },
  },
  {
    name: 'a wrong password is 400, without a code',
    async run({ endpoint, role }) {
      const headers = endpoint.as({ user: role.name, password: 'wrong' });
      const { status, code, message } = await endpoint.failure({ query: 'select 1' }, headers);
      expectEqual('status and code', { status, code }, { status: 400, code: '' });
      expectEqual('message', message, `password authentication failed for user '${role.name}'`);
    },
  },
  ...badConnectionStrings({
    'an empty connection string': ['', 'invalid connection string: relative URL without a base'],
    'a connection string of another scheme': ['mysql://a:b@c.d/e', 'incorrect scheme'],
    'a connection string without a user': ['postgres://c.d/e', 'missing username'],
    'a connection string without a password': [
      'postgres://a@c.d/e',
      'missing authentication credentials: required password',
    ],
    'a connection string without a database': ['postgres://a:b@c.d', 'missing database name'],
  }),
  {
    name: 'another database is 400, with code 3D000',
    isDetail: true,
    async run({ endpoint }) {
      const failure = await endpoint.failure({ query: 'select 1' }, endpoint.as({ database: 'elsewhere' }));
      expectEqual('status and code', pick(failure, ['status', 'code']), { status: 400, code: '3D000' });
    },
  },
  ...['{"query":', '[]', 'null', '{"query":1}'].map((body): Check<Target> => ({
    name: `the body ${body} is 400`,
    isDetail: true,
    async run({ endpoint }) {
      const { status, message } = await endpoint.failure(body);
      expectEqual('status', status, 400);
      expectThat(
        /^could not parse the HTTP request body: ./.test(String(message)),
        `the message is ${String(message)}`,
      );
    },
  })),
  {
    name: 'other paths and methods are 400, with neon-request-id',
    isDetail: true,
    async run({ endpoint }) {
      const { status, headers } = await fetch(new URL('/other', endpoint.url), { method: 'POST' });
      expectEqual('POST /other', [status, headers.has('neon-request-id')], [400, true]);
      expectEqual('GET', (await fetch(endpoint.url)).status, 400);
    },
  },
  {
    name: 'a request above the limit is 413',
    isDetail: true,
    async run({ endpoint, limit }) {
      const query = `select '${'x'.repeat(limit + 1024)}'`;
      const failure = await endpoint.failure({ query });
      const message = `request is too large (max is ${limit} bytes)`;
      expectEqual('status and message', pick(failure, ['status', 'message']), { status: 413, message });
    },
  },
  {
    name: 'a response above the limit is 507, and the next request is served',
    async run({ endpoint, limit }) {
      const query = `select repeat('x', ${Math.ceil(limit / 64)}) from generate_series(1, 300)`;
      const { status, message } = await endpoint.failure({ query });
      expectEqual('status', status, 507);
      expectEqual('the next request', await endpoint.rowsOf('select 1'), [['1']]);
      return String(message);
    },
  },
  {
    name: 'the limit for responses is that of the stand-in',
    isDetail: true,
    async run({ endpoint, limit }) {
      const query = `select repeat('x', ${Math.ceil(limit / 64)}) from generate_series(1, 300)`;
      const { message, code } = await endpoint.failure({ query });
      expectEqual('message', { message, code }, { message: `response is too large (max is ${limit} bytes)`, code: '' });
    },
  },
  {
    name: 'a single row may be larger than the limit',
    async run({ endpoint, limit }) {
      const length = Math.ceil(limit * 1.1);
      const [row] = await endpoint.rowsOf(`select repeat('x', ${length})`);
      expectEqual('the length of the row', row?.[0]?.length, length);
    },
  },
  {
    name: 'a statement whose connection is ended is 400 with 57P01, and the next is served',
    isDetail: true,
    async run({ endpoint }) {
      const lost = await endpoint.failure({ query: 'select pg_terminate_backend(pg_backend_pid())' });
      const expected = { status: 400, code: '57P01', severity: 'FATAL' };
      expectEqual('the error', pick(lost, ['status', 'code', 'severity']), expected);
      expectEqual('the next request', await endpoint.rowsOf('select 1'), [['1']]);
    },
  },
  {
    name: 'a statement is cancelled when its client disconnects',
    async run({ endpoint, directly }) {
      const query = `select pg_sleep(60) /* ${randomUUID()} */`;
      const count = async () =>
        (await directly(`select from pg_stat_activity where query = $1 and state = 'active'`, [query])).length;
      const leaving = new AbortController();
      const request = endpoint
        .post({ query }, {}, leaving.signal)
        .then(({ status }) => `it ended with ${status}`, String);
      const ended = await Promise.race([request, until(async () => (await count()) === 1)]);
      expectThat(ended !== false, 'the statement does not appear in pg_stat_activity');
      expectThat(ended === true, String(ended));
      leaving.abort();
      const left = performance.now();
      expectThat(await until(async () => (await count()) === 0), `it is still running after ${SETTLE_MS / 1000} s`);
      return `after ${Math.round(performance.now() - left)} ms`;
    },
  },
];

type Statement = (schema: string) => string;

function resultsOf(cases: readonly [string, Statement, Record<string, unknown>][]): Check<Target>[] {
  return cases.map(([what, query, expected]) => ({
    name: `the result of ${what}`,
    async run({ endpoint, schema }) {
      const { text } = await endpoint.post({ query: query(schema) });
      expectEqual('the result', pick(JSON.parse(text), Object.keys(expected)), expected);
    },
  }));
}

function refusals(cases: readonly [string, Statement, Record<string, unknown>][], isDetail = false): Check<Target>[] {
  return cases.map(([what, query, expected]) => ({
    name: `${what} is 400, and the next request is served`,
    isDetail,
    async run({ endpoint, schema }) {
      const { status, ...fields } = await endpoint.failure({ query: query(schema) });
      expectEqual('status', status, 400);
      expectEqual('the error', pick(fields, Object.keys(expected)), expected);
      expectEqual('the next request', await endpoint.rowsOf(`select count(*) from ${schema}.notes`), [['2']]);
    },
  }));
}

function badConnectionStrings(cases: Readonly<Record<string, readonly [string, string]>>): Check<Target>[] {
  return Object.entries(cases).map(([what, [text, message]]) => ({
    name: `${what} is 400`,
    isDetail: true,
    async run({ endpoint }) {
      const failure = await endpoint.failure({ query: 'select 1' }, { [CONNECTION]: text });
      const expected = { status: 400, message, code: '', severity: '' };
      expectEqual('the error', pick(failure, Object.keys(expected)), expected);
    },
  }));
}

/** Runs `work` with the driver as it is: the service's own fetch is for its own queries. */
async function withDriver(endpoint: SqlEndpoint, work: (sql: ReturnType<typeof neon>) => Promise<void>): Promise<void> {
  const { fetchFunction, fetchEndpoint } = neonConfig;
  neonConfig.fetchFunction = fetch;
  neonConfig.fetchEndpoint = () => endpoint.url;
  try {
    await work(neon(endpoint.connectionString(), { disableWarningInBrowsers: true }));
  } finally {
    neonConfig.fetchFunction = fetchFunction;
    neonConfig.fetchEndpoint = fetchEndpoint;
  }
}

const roleOf = ({ name, password }: Target['role']) =>
  password === undefined ? { user: name } : { user: name, password };

function pick(object: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (object as Record<string, unknown>)[name]]));
}

/** @returns whether a condition has become true within some seconds */
async function until(condition: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline; await sleep(100))
    if (await condition()) return true;
  return false;
}
