/**
 * What the Worker and Neon's driver expect of a SQL-over-HTTP endpoint, with the details of Neon's
 * proxy that the gateway has too. The endpoint is the gateway, unless TEST_SQL_ENDPOINT has the URL
 * of another one, such as Neon's, and TEST_SQL_DATABASE the `postgres://` URL of its database's
 * owner. The tests work in a schema and with a role of a random name, which they remove.
 */
import { neon, neonConfig } from '@neondatabase/serverless';
import { randomBytes, randomInt } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { pooledHost } from '../../tools/neon-host.ts';
import { startDatabase } from '../support/database.ts';
import { type Identity, SqlEndpoint, TOKEN, startTestGateway } from '../support/sql-endpoint.ts';

const CONNECTIONS = 3;
const MIB = 1024 * 1024;
/** The schema and the role. */
const name = `test_${randomBytes(4).toString('hex')}`;

const endpoint = await connect();
const { username, password } = new URL(endpoint.connectionString());
/** The user of the endpoint's connection string, and a role without privileges. */
const owner: Identity = { user: username };
const role: Identity = { user: name };

await endpoint.directly(
  `create schema ${name};
   create table ${name}.notes (id integer primary key, body text);
   insert into ${name}.notes values (1, 'one'), (2, null);
   create table ${name}.log (line text);
   create role ${name} login password '${decodeURIComponent(password)}';
   alter role ${name} set enable_bitmapscan = off`,
);
afterAll(() =>
  endpoint.directly(`drop schema if exists ${name} cascade; drop role if exists ${name}`),
);

async function connect(): Promise<SqlEndpoint> {
  const { TEST_SQL_ENDPOINT: url, TEST_SQL_DATABASE: owned } = process.env;
  if (url === undefined)
    return startTestGateway((await startDatabase()).url, { connections: CONNECTIONS });
  if (owned === undefined) throw new Error('TEST_SQL_DATABASE is not set');
  const connection = new URL(owned);
  connection.hostname = pooledHost(connection.hostname); // as the Worker's
  return new SqlEndpoint(url, connection.href, owned);
}

describe('a result', () => {
  test('is JSON without spaces, with its length', async () => {
    const query = `select id, body from ${name}.notes order by id`;
    const { text, headers } = await endpoint.post({ query, params: [] });
    const table = await endpoint.rowsOf(`select '${name}.notes'::regclass::oid::text`);
    const tableID = Number(table[0]?.[0]);
    const format = { dataTypeModifier: -1, format: 'text' };
    const expected = {
      fields: [
        { name: 'id', dataTypeID: 23, tableID, columnID: 1, dataTypeSize: 4, ...format },
        { name: 'body', dataTypeID: 25, tableID, columnID: 2, dataTypeSize: -1, ...format },
      ],
      rows: [
        ['1', 'one'],
        ['2', null],
      ],
      command: 'SELECT',
      rowCount: 2,
      rowAsArray: true,
    };
    expect(text).toBe(JSON.stringify(expected));
    expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });

  test.each([
    ['no rows', 'select 1 where false', { rows: [], command: 'SELECT', rowCount: 0 }],
    [
      'rows without columns',
      'select from SCHEMA.notes',
      { fields: [], rows: [[], []], rowCount: 2 },
    ],
    ['UPDATE', 'update SCHEMA.notes set body = body', { rows: [], command: 'UPDATE', rowCount: 2 }],
    ['INSERT', `insert into SCHEMA.log values ('a'), ('b')`, { command: 'INSERT', rowCount: 2 }],
    ['SET', 'set test.setting = 1', { command: 'SET', rowCount: null }],
    ['an empty text', '', { fields: [], rows: [], command: '', rowCount: null }],
  ])('of %s has its command and count', async (_, query, expected) => {
    const { text } = await endpoint.post({ query: query.replace('SCHEMA', name) });
    expect(JSON.parse(text)).toMatchObject(expected);
  });

  test('has every character unchanged', async () => {
    const all = Array.from({ length: 0x250 }, (_, i) => String.fromCodePoint(i + 1)).join('');
    const text = `${all} 🐘 \u2028 "\\" ${'"\n'.repeat(9000)}`;
    expect(await endpoint.rowsOf('select $1::text, $2::text, $3::text', [text, '', null])).toEqual([
      [text, '', null],
    ]);
  });

  test('above the limit is 507, unless it is a single row, even one that must all be escaped', async () => {
    const { status, message } = await endpoint.failure({
      query: `select repeat('x', ${MIB}) from generate_series(1, 100)`,
    });
    expect({ status, message }).toEqual({
      status: 507,
      message: expect.stringMatching(/^response is too large \(max is \d+ bytes\)$/),
    });
    const length = Math.ceil(1.1 * Number(/\d+/.exec(String(message))?.[0]));
    const [row] = await endpoint.rowsOf(`select repeat(E'\\x01', ${length})`);
    expect(row?.[0] === '\u0001'.repeat(length)).toBe(true);
  });
});

test('Neon’s driver sends parameters of every type, and gets results, and errors with their fields', async () => {
  neonConfig.fetchEndpoint = () => endpoint.url;
  const authorized = { Authorization: `Bearer ${TOKEN}` };
  neonConfig.fetchFunction = (url: string, init: { headers: object }) =>
    fetch(url, { ...init, headers: { ...init.headers, ...authorized } });
  const sql = neon(endpoint.connectionString());
  const values =
    await sql`select ${1}::int i, ${['a"', null]}::text[] a, ${true}::bool b, ${{ c: 1 }}::jsonb c`;
  expect(values).toEqual([{ i: 1, a: ['a"', null], b: true, c: { c: 1 } }]);
  const error = { name: 'NeonDbError', code: '42703', severity: 'ERROR', position: '8' };
  await expect(sql.query(`select nope from ${name}.notes`)).rejects.toMatchObject(error);

  const insert = (line: string) => sql.query(`insert into ${name}.log values ($1)`, [line]);
  const modes = sql`select current_setting('transaction_isolation') i, current_setting('transaction_read_only') r`;
  const options = { isolationLevel: 'RepeatableRead', readOnly: true } as const;
  expect(await sql.transaction([modes], options)).toEqual([[{ i: 'repeatable read', r: 'on' }]]);
  await expect(sql.transaction([insert('undone'), sql`select 1 / 0`])).rejects.toMatchObject({
    code: '22012',
  });
  await sql.transaction([insert('one'), insert('two')]);
  expect(
    await endpoint.directly(`delete from ${name}.log where line ~ 'o' returning line`),
  ).toEqual([['one'], ['two']]);
});

describe('status 400, after which the next request is served, is the response to', () => {
  const copy = {
    code: '',
    message:
      'error parsing response from server: invalid message length: expected buffer to be empty',
  };

  test.each([
    ['a syntax error', 'selec 1', { code: '42601', severity: 'ERROR', position: '1' }],
    ['several statements in one', 'select 1; select 2', { code: '42601' }],
    ['a division by zero', 'select 1/0', { code: '22012' }],
    [
      'a cancelled statement',
      'select pg_cancel_backend(pg_backend_pid()), pg_sleep(5)',
      { code: '57014' },
    ],
    [
      'an ended connection',
      'select pg_terminate_backend(pg_backend_pid())',
      { code: '57P01', severity: 'FATAL' },
    ],
    ['COPY to the client', 'copy SCHEMA.notes to stdout', copy],
    ['COPY of nothing', 'copy (select where false) to stdout', copy],
    ['COPY from the client', 'copy SCHEMA.notes from stdin', copy],
  ])('%s', async (_, query, expected) => {
    expect(await endpoint.failure({ query: query.replace('SCHEMA', name) })).toMatchObject({
      status: 400,
      ...expected,
    });
    expect(await endpoint.rowsOf(`select count(*) from ${name}.notes`)).toEqual([['2']]);
  });

  test.each([
    '{"query":',
    '[]',
    'null',
    '{"query":1}',
    '{"query":"select $1","params":["\\ud800"]}',
    '{"query":"select $1","params":[["a",["\\ud800"]]]}',
  ])('the body %s', async (body) => {
    const message = expect.stringMatching(/^could not parse the HTTP request body: ./);
    expect(await endpoint.failure(body)).toMatchObject({
      status: 400,
      message,
      code: '',
      severity: '',
    });
  });
});

describe('a request', () => {
  test('has the privileges of its role', async () => {
    const query = `delete from ${name}.notes`;
    const refused = await endpoint.failure({ query }, endpoint.as(role));
    expect(refused).toMatchObject({ status: 400, code: '42501' });
  });

  test('has the settings of its role, and not those of the request before it', async () => {
    const query = `select current_user, current_setting('enable_bitmapscan'), pg_sleep(0.01)::text`;
    for (const [identity, setting] of [
      [role, 'off'] as const,
      [owner, 'on'] as const,
      [role, 'off'] as const,
    ]) {
      const requests = Array.from({ length: CONNECTIONS }, () =>
        endpoint.rowsOf(query, [], endpoint.as(identity)),
      );
      expect(await Promise.all(requests)).toEqual(
        requests.map(() => [[identity.user, setting, '']]),
      );
    }
  });

  // A pooler in transaction mode shares sessions and what is left in them:
  // https://neon.com/docs/connect/connection-pooling
  test('leaves no setting, temporary table or transaction behind', async () => {
    const leftovers = [
      'set test.setting = 1',
      'create temporary table test_left ()',
      'declare test_left cursor with hold for select 1',
      'begin',
    ];
    for (const query of leftovers)
      expect(await endpoint.post({ query })).toMatchObject({ status: 200 });
    await endpoint.rowsOf(`insert into ${name}.log values ('kept')`);
    expect(
      await endpoint.directly(`delete from ${name}.log where line = 'kept' returning line`),
    ).toEqual([['kept']]);
    const query = `select nullif(current_setting('test.setting', true), ''), to_regclass('test_left')::text`;
    for (let i = 0; i <= CONNECTIONS; i++)
      expect(await endpoint.rowsOf(query)).toEqual([[null, null]]);
  });

  // without client_connection_check_interval, only a cancel request ends it
  test('ends when its client disconnects', async () => {
    const key = String(randomInt(2 ** 31)); // every user sees who has a lock
    const locks = () =>
      endpoint.directly(`select from pg_locks where locktype = 'advisory' and objid::text = $1`, [
        key,
      ]);
    const leaving = new AbortController();
    const query = `select pg_advisory_xact_lock(${key})::text, pg_sleep(60)::text`;
    const request = endpoint.post({ query }, {}, leaving.signal);
    await expect.poll(locks).toHaveLength(1);
    leaving.abort();
    await expect(request).rejects.toThrow('aborted');
    await expect.poll(locks, { timeout: 15_000 }).toHaveLength(0);
  });
});
