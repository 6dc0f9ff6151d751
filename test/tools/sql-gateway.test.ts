import { neon, neonConfig } from '@neondatabase/serverless';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayUnderTest, LIMIT, startGateway } from '../support/gateway.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

const CONNECTIONS = 3;

describe('the SQL gateway', () => {
  let server: TestPostgres;
  let gateway: GatewayUnderTest;

  beforeAll(async () => {
    server = await startPostgres();
    gateway = await startGateway(await server.createDatabase(), CONNECTIONS);
    neonConfig.fetchEndpoint = () => gateway.url;
    await gateway.directly(`
      create table notes (id integer primary key, body text);
      insert into notes values (1, 'one'), (2, null);
      create table log (line text);
      create role reader login;
      grant select on notes to reader;
      alter role reader set enable_bitmapscan = off;
      alter role reader set search_path = "$user", public, "a b";
      alter role reader set log_min_duration_statement = 12345; -- requires a superuser
    `);
  });

  afterAll(async () => {
    await gateway?.close();
    await server?.stop();
  });

  describe('returns', () => {
    test('fields, rows and command in the order of Neon’s proxy', async () => {
      const { text, headers } = await gateway.post({ query: 'select id, body from notes order by id', params: [] });
      const table = JSON.parse(text).fields[0].tableID;
      expect(table).toBeGreaterThan(0);
      expect(text).toBe(
        `{"fields":[{"name":"id","dataTypeID":23,"tableID":${table},"columnID":1,"dataTypeSize":4,"dataTypeModifier":-1,"format":"text"},` +
          `{"name":"body","dataTypeID":25,"tableID":${table},"columnID":2,"dataTypeSize":-1,"dataTypeModifier":-1,"format":"text"}],` +
          `"rows":[["1","one"],["2",null]],"command":"SELECT","rowCount":2,"rowAsArray":true}`,
      );
      expect(headers.get('content-type')).toBe('application/json');
      expect(headers.get('neon-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    test.each([
      ['select 1 where false', { rows: [], command: 'SELECT', rowCount: 0 }],
      ['select from notes', { fields: [], rows: [[], []], command: 'SELECT', rowCount: 2 }],
      ['update notes set body = body', { fields: [], rows: [], command: 'UPDATE', rowCount: 2 }],
      [`insert into log values ('a'), ('b')`, { command: 'INSERT', rowCount: 2 }],
      ['set search_path = public', { command: 'SET', rowCount: null }],
      ['', { fields: [], rows: [], command: '', rowCount: null }],
    ])('the result of %j', async (query, expected) => {
      const { text } = await gateway.post({ query });
      expect(JSON.parse(text)).toMatchObject(expected);
    });

    test('values as Postgres prints them', async () => {
      const query = `select true, 1.50, '{"a":1}'::jsonb, '2026-03-01 00:03:43.770047Z'::timestamptz`;
      expect(await gateway.rowsOf(query)).toEqual([['t', '1.50', '{"a": 1}', '2026-03-01 00:03:43.770047+00']]);
    });

    test('every character unchanged', async () => {
      const all = Array.from({ length: 0x250 }, (_, i) => String.fromCodePoint(i + 1)).join('');
      const text = `${all} 🐘 \u2028 "\\" ${'"\n'.repeat(9000)}`;
      expect(await gateway.rowsOf('select $1::text, $2::text, $3::text', [text, '', null])).toEqual([[text, '', null]]);
    });

    test.each([10_000, 200_000])('values of %d characters that must all be escaped', async (length) => {
      const columns = Array.from({ length: 12 }, () => `repeat(E'\\x01', ${length})`);
      expect(await gateway.rowsOf(`select ${columns.join()}`)).toEqual([columns.map(() => '\u0001'.repeat(length))]);
    });

    test('results that are requested at the same time', async () => {
      const numbers = Array.from({ length: 40 }, (_, i) => String(i));
      const results = await Promise.all(numbers.map((i) => gateway.rowsOf('select $1, pg_sleep(0.001)::text', [i])));
      expect(results).toEqual(numbers.map((i) => [[i, '']]));
    });
  });

  describe('serves the driver', () => {
    test('a result, with parameters of every type', async () => {
      const sql = neon(gateway.connectionString());
      expect(await sql`select id, body from notes where id = ${1}`).toEqual([{ id: 1, body: 'one' }]);
      expect(await sql`select ${['a"', null]}::text[] as a, ${true}::bool as b, ${{ c: 1 }}::jsonb as c`).toEqual([
        { a: ['a"', null], b: true, c: { c: 1 } },
      ]);
    });

    test('an error with its fields', async () => {
      const sql = neon(gateway.connectionString());
      const error = { name: 'NeonDbError', code: '42703', severity: 'ERROR', position: '8' };
      await expect(sql.query('select nope from notes')).rejects.toMatchObject(error);
    });
  });

  describe('runs statements as the role of the connection string', () => {
    test('with the privileges of the role', async () => {
      const sql = neon(gateway.connectionString({ user: 'reader' }));
      expect(await sql`select current_user, id from notes where id = 1`).toEqual([{ current_user: 'reader', id: 1 }]);
      await expect(sql`delete from notes`).rejects.toMatchObject({ code: '42501' });
    });

    const names = ['enable_bitmapscan', 'search_path', 'log_min_duration_statement'];
    const settings = names.map((name) => `current_setting('${name}')`).join(', ');
    const values = ['"$user", public, "a b"', '12345ms'];

    test('with the settings of the role, for every request', async () => {
      const reader = { 'Neon-Connection-String': gateway.connectionString({ user: 'reader' }) };
      for (let i = 0; i < 3; i++) {
        const query = `select set_config('enable_bitmapscan', 'on', false), ${settings}`;
        expect(await gateway.rowsOf(`select ${settings}`, [], reader)).toEqual([['off', ...values]]);
        expect(await gateway.rowsOf(query, [], reader)).toEqual([['on', 'on', ...values]]);
      }
    });

    test('on connections that another role has used', async () => {
      for (const user of ['reader', 'postgres', 'reader', 'postgres']) {
        const headers = { 'Neon-Connection-String': gateway.connectionString({ user }) };
        const query = `select current_user, current_setting('enable_bitmapscan'), pg_sleep(0.01)::text`;
        const requests = Array.from({ length: CONNECTIONS }, () => gateway.rowsOf(query, [], headers));
        const row = [user, user === 'reader' ? 'off' : 'on', ''];
        expect(await Promise.all(requests)).toEqual(requests.map(() => [row]));
      }
    });

    test('unless the role does not exist', async () => {
      const headers = { 'Neon-Connection-String': gateway.connectionString({ user: 'no"body' }) };
      expect(await gateway.failure({ query: 'select 1' }, headers)).toMatchObject({ status: 400, code: '22023' });
    });
  });

  test('resets settings, temporary tables and open transactions after each request', async () => {
    for (const query of [`set statement_timeout = 12345`, 'create temporary table scratch (a int)', 'begin']) {
      expect(await gateway.post({ query })).toMatchObject({ status: 200 });
    }
    for (let i = 0; i < 4; i++) {
      const query = `select current_setting('statement_timeout'), to_regclass('scratch')::text`;
      expect(await gateway.rowsOf(query)).toEqual([['0', null]]);
    }
    await gateway.rowsOf('begin');
    await gateway.rowsOf(`insert into notes values (30, 'kept')`);
    expect(await gateway.directly('delete from notes where id = 30 returning id')).toEqual([[30]]);
  });

  describe('refuses', () => {
    const header = 'Neon-Connection-String';

    test.each([
      ['a syntax error', 'selec 1', { code: '42601', severity: 'ERROR', position: '1', routine: 'scanner_yyerror' }],
      ['several statements', 'select 1; select 2', { code: '42601' }],
      ['COPY to the client', 'copy notes to stdout', { code: '', message: 'unexpected message from server' }],
      [
        'COPY of nothing',
        'copy (select where false) to stdout',
        { code: '', message: 'unexpected message from server' },
      ],
      ['COPY from the client', 'copy notes from stdin', { code: '', message: 'unexpected message from server' }],
    ])('%s, and serves the next request', async (_, query, expected) => {
      expect(await gateway.failure({ query })).toMatchObject({ status: 400, ...expected });
      expect(await gateway.rowsOf('select count(*) from notes')).toEqual([['2']]);
    });

    test('with all the fields of Neon’s errors', async () => {
      expect(Object.keys(await gateway.failure({ query: 'select 1/0' })).join()).toBe(
        'status,message,code,detail,hint,position,internalPosition,internalQuery,severity,where,table,column,schema,dataType,constraint,file,line,routine',
      );
    });

    test.each([
      ['an empty connection string', () => ({ [header]: '' }), 'invalid connection string'],
      ['another scheme', () => ({ [header]: 'mysql://a:b@c.d/e' }), 'incorrect scheme'],
      ['a missing user', () => ({ [header]: 'postgres://c.d/e' }), 'missing username'],
      [
        'a missing password',
        () => ({ [header]: 'postgres://a@c.d/e' }),
        'missing authentication credentials: required password',
      ],
      ['a missing database', () => ({ [header]: 'postgres://a:b@c.d' }), 'missing database name'],
      [
        'a wrong password',
        () => ({ [header]: gateway.connectionString({ user: 'reader', password: 'wrong' }) }),
        `password authentication failed for user 'reader'`,
      ],
      ['rows as objects', () => ({ 'Neon-Array-Mode': 'false' }), 'Neon-Array-Mode must be "true" here'],
      ['parsed values', () => ({ 'Neon-Raw-Text-Output': 'TRUE' }), 'Neon-Raw-Text-Output must be "true" here'],
    ])('%s', async (_, headers, message) => {
      const expected = { status: 400, message, code: '', severity: '' };
      expect(await gateway.failure({ query: 'select 1' }, headers())).toMatchObject(expected);
    });

    test('another database', async () => {
      const headers = { [header]: gateway.connectionString({ database: 'elsewhere' }) };
      expect(await gateway.failure({ query: 'select 1' }, headers)).toMatchObject({ status: 400, code: '3D000' });
    });

    test.each(['{"query":', '[]', 'null', '{"query":1}', '{"queries":[]}', '{"query":"select 1","params":[1]}'])(
      'the body %s',
      async (body) => {
        const { status, message } = await gateway.failure(body);
        expect({ status, message }).toEqual({
          status: 400,
          message: expect.stringMatching(/^could not parse the HTTP request body: ./),
        });
      },
    );

    test('a request that is too large', async () => {
      const query = `select '${'x'.repeat(LIMIT * 20)}'`;
      expect(await gateway.failure({ query })).toMatchObject({
        status: 413,
        message: `request is too large (max is ${LIMIT} bytes)`,
      });
    });

    test('other routes and methods', async () => {
      const { status, headers } = await fetch(new URL('/other', gateway.url), { method: 'POST' });
      expect(status).toBe(400);
      expect(headers.has('neon-request-id')).toBe(true);
      expect((await fetch(gateway.url)).status).toBe(400);
    });
  });

  describe('with a result above the limit', () => {
    test('returns 507, however many rows would follow, and serves the next request', async () => {
      const query = `select repeat('x', 1000) from generate_series(1, 20000)`;
      expect(await gateway.failure({ query })).toMatchObject({
        status: 507,
        message: `response is too large (max is ${LIMIT} bytes)`,
        code: '',
      });
      expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
    });

    test('returns a single row of any size', async () => {
      expect(await gateway.rowsOf(`select repeat('x', ${LIMIT * 3})`)).toEqual([['x'.repeat(LIMIT * 3)]]);
    });
  });
});
