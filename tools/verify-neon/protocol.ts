import { neon, neonConfig } from '@neondatabase/serverless';
import { expectEqual, expectThat } from '../verify/expect.ts';
import type { Check } from '../verify/run-checks.ts';
import type { SqlEndpoint } from './endpoint.ts';

/** An endpoint, and what its checks need. */
export interface Target {
  readonly endpoint: SqlEndpoint;
  /** The rows of a statement that the database runs for the same user without the endpoint. */
  readonly directly: (query: string, params?: unknown[]) => Promise<unknown[][]>;
  /** The name of a schema with the tables of `createTables`, quoted where necessary. */
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
}

const MIB = 1024 * 1024;
const COPY_REFUSED = {
  code: '',
  message: 'error parsing response from server: invalid message length: expected buffer to be empty',
};
const UNREADABLE = /^could not parse the HTTP request body: ./;

/**
 * What the Worker and its driver expect of Neon's SQL-over-HTTP proxy, and tools/sql-gateway.ts does as well. They do not rely on
 * details.
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
    name: 'a response has its Content-Length, a neon-request-id, and its members in the order of Neon’s proxy',
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
      expectEqual('Content-Length', headers.get('content-length'), String(Buffer.byteLength(text)));
      expectThat(/^[\da-f-]{36}$/.test(headers.get('neon-request-id') ?? ''), 'no neon-request-id');
    },
  },
  ...resultsOf([
    ['no rows', () => 'select 1 where false', { rows: [], command: 'SELECT', rowCount: 0 }],
    ['rows without columns', (schema) => `select from ${schema}.notes`, { fields: [], rows: [[], []], rowCount: 2 }],
    ['UPDATE', (schema) => `update ${schema}.notes set body = body`, { rows: [], command: 'UPDATE', rowCount: 2 }],
    ['INSERT', (schema) => `insert into ${schema}.log values ('a'), ('b')`, { command: 'INSERT', rowCount: 2 }],
    ['SET', () => 'set verify.setting = 1', { command: 'SET', rowCount: null }],
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
  ...badRequests([
    ['an empty connection string', { connection: '' }, /^invalid connection string: relative URL without a base$/],
    ['a connection string of another scheme', { connection: 'mysql://a:b@c.d/e' }, /^incorrect scheme$/],
    ['a connection string without a user', { connection: 'postgres://c.d/e' }, /^missing username$/],
    [
      'a connection string without a password',
      { connection: 'postgres://a@c.d/e' },
      /^missing authentication credentials: required password$/,
    ],
    ['a connection string without a database', { connection: 'postgres://a:b@c.d' }, /^missing database name$/],
    ...['{"query":', '[]', 'null', '{"query":1}', '{"query":"select $1","params":["\\ud800"]}'].map(
      (body) => [`the body ${body}`, { body }, UNREADABLE] as const,
    ),
  ]),
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
    name: 'a response above the limit is 507, unless it is a single row, and the next request is served',
    async run({ endpoint }) {
      const query = `select repeat('x', ${MIB}) from generate_series(1, 100)`;
      const { status, message } = await endpoint.failure({ query });
      expectEqual('status', status, 507);
      const limit = Number(/^response is too large \(max is (\d+) bytes\)$/.exec(String(message))?.[1]);
      expectThat(limit > 0, `the message is ${String(message)}`);
      const length = Math.ceil(1.1 * limit);
      const [row] = await endpoint.rowsOf(`select repeat('x', ${length})`);
      expectEqual('the length of a single row', row?.[0]?.length, length);
      return `the limit is ${limit} bytes`;
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

type BadRequest = { readonly connection?: string; readonly body?: string };

function badRequests(cases: readonly (readonly [string, BadRequest, RegExp])[]): Check<Target>[] {
  return cases.map(([what, { connection, body }, expected]) => ({
    name: `${what} is 400`,
    isDetail: true,
    async run({ endpoint }) {
      const headers = connection === undefined ? {} : { 'Neon-Connection-String': connection };
      const { message, ...fields } = await endpoint.failure(body ?? { query: 'select 1' }, headers);
      expectThat(expected.test(String(message)), `the message is ${String(message)}`);
      expectEqual('the error', pick(fields, ['status', 'code', 'severity']), { status: 400, code: '', severity: '' });
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

/** @returns the members of those names */
export function pick(object: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (object as Record<string, unknown>)[name]]));
}
