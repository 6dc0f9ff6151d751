import { neon, neonConfig } from '@neondatabase/serverless';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databases, LIMIT, startGateway, type GatewayUnderTest } from '../support/gateway.ts';

describe.each(databases)('the SQL gateway in front of $name', ({ open, maxConnections }) => {
  let database: Awaited<ReturnType<typeof open>>;
  let gateway: GatewayUnderTest;

  beforeAll(async () => {
    database = await open();
    gateway = await startGateway(database, maxConnections);
    neonConfig.fetchEndpoint = () => gateway.url;
    await gateway.directly(`
      create table notes (id integer primary key, body text);
      insert into notes values (1, 'one'), (2, null);
      create role reader login;
      grant select on notes to reader;
      alter role reader set enable_bitmapscan = off;
      alter role reader set search_path = "$user", public, "a b";
      alter role reader set log_min_duration_statement = 12345; -- which the role itself may not set
    `);
  });

  afterAll(async () => {
    await gateway?.close();
    await database?.close();
  });

  describe('a result', () => {
    test('has the fields, the rows and the command, in the order of Neon’s', async () => {
      const { text, headers } = await gateway.post({ query: 'select id, body from notes order by id', params: [] });
      const table = JSON.parse(text).fields[0].tableID;
      expect(table).toBeGreaterThan(0);
      expect(text).toBe(
        `{"fields":[{"name":"id","dataTypeID":23,"tableID":${table},"columnID":1,"dataTypeSize":4,"dataTypeModifier":-1,"format":"text"},` +
          `{"name":"body","dataTypeID":25,"tableID":${table},"columnID":2,"dataTypeSize":-1,"dataTypeModifier":-1,"format":"text"}],` +
          `"rows":[{"id":1,"body":"one"},{"id":2,"body":null}],"command":"SELECT","rowCount":2,"rowAsArray":false}`,
      );
      expect(headers.get('content-type')).toBe('application/json');
      expect(headers.get('neon-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    test.each([
      ['select 1 where false', { rows: [], command: 'SELECT', rowCount: 0 }],
      ['update notes set body = body', { fields: [], rows: [], command: 'UPDATE', rowCount: 2 }],
      ['insert into notes select 3 where false', { command: 'INSERT', rowCount: 0 }],
      ['set search_path = public', { command: 'SET', rowCount: null }],
      ['', { fields: [], rows: [], command: '', rowCount: null }],
    ])('of %j', async (query, expected) => {
      const { text } = await gateway.post({ query });
      expect(JSON.parse(text)).toMatchObject(expected);
    });

    test.each([
      ['true::bool', 't', true],
      ['42::int2', '42', 42],
      ['42::int8', '42', '42'],
      ['1.5::float8', '1.5', 1.5],
      [`'NaN'::float8`, 'NaN', 'NaN'],
      ['1.50::numeric', '1.50', '1.50'],
      [`'{"a":1}'::jsonb`, '{"a": 1}', { a: 1 }],
      [`'{1,NULL,3}'::int[]`, '{1,NULL,3}', [1, null, 3]],
      [`'[0:0][1:2]={{a,"b \\\\\\" ,}"}}'::text[]`, '[0:0][1:2]={{a,"b \\\\\\" ,}"}}', [['a', 'b \\" ,}']]],
      [`array['{"a": [1]}'::json]`, '{"{\\"a\\": [1]}"}', [{ a: [1] }]],
      [`'2026-03-01 00:03:43.770047Z'::timestamptz`, '2026-03-01 00:03:43.770047+00', '2026-03-01 00:03:43.770047+00'],
    ])('has %s as text, or as JSON where text is not asked for', async (expression, text, json) => {
      expect(await gateway.rowsOf(`select ${expression}`)).toEqual([[text]]);
      const parsed = await gateway.post({ query: `select ${expression} as v` }, { 'Neon-Raw-Text-Output': 'TRUE' });
      expect(JSON.parse(parsed.text).rows).toEqual([{ v: json }]);
    });

    test('keeps every character', async () => {
      const all = Array.from({ length: 0x250 }, (_, i) => String.fromCodePoint(i + 1)).join('');
      const text = `${all} 🐘 \u2028 "\\" ${'"\n'.repeat(9000)}`;
      expect(await gateway.rowsOf('select $1::text, $2::text', [text, ''])).toEqual([[text, '']]);
    });

    test.each([10_000, 200_000])('keeps values of %d characters that all have to be escaped', async (length) => {
      const columns = Array.from({ length: 12 }, () => `repeat(E'\\x01', ${length})`);
      expect(await gateway.rowsOf(`select ${columns.join()}`)).toEqual([columns.map(() => '\u0001'.repeat(length))]);
    });

    test('has its columns under their names, whatever they are', async () => {
      const { text } = await gateway.post({ query: `select 1 as "a""b\\", 2 as "é"` });
      expect(JSON.parse(text).rows).toEqual([{ 'a"b\\': 1, é: 2 }]);
    });
  });

  test.each([
    [null, null],
    ['a\\"b', 'a\\"b'],
    [42, '42'],
    [true, 'true'],
    [{ a: [1] }, '{"a":[1]}'],
    [[1, null, 'x"y\\', ['n']], '{1,NULL,"x\\"y\\\\",{"n"}}'],
    [[{ a: 'b' }], '{"{\\"a\\":\\"b\\"}"}'],
  ])('takes the parameter %j', async (parameter, text) => {
    expect(await gateway.rowsOf('select $1::text', [parameter])).toEqual([[text]]);
  });

  describe('the driver', () => {
    test('runs tagged templates', async () => {
      const sql = neon(gateway.connectionString());
      expect(await sql`select id, body from notes where id = ${1}`).toEqual([{ id: 1, body: 'one' }]);
    });

    test('gets the fields of an error', async () => {
      const sql = neon(gateway.connectionString());
      const error = { name: 'NeonDbError', code: '42703', severity: 'ERROR', position: '8' };
      await expect(sql.query('select nope from notes')).rejects.toMatchObject(error);
    });

    test('runs a batch in one transaction of the kind it asks for', async () => {
      const sql = neon(gateway.connectionString());
      const batch = [
        sql`show transaction_isolation`,
        sql`show transaction_read_only`,
        sql`show transaction_deferrable`,
      ];
      const modes = { isolationLevel: 'Serializable', readOnly: true, deferrable: true } as const;
      expect(await sql.transaction(batch, modes)).toEqual([
        [{ transaction_isolation: 'serializable' }],
        [{ transaction_read_only: 'on' }],
        [{ transaction_deferrable: 'on' }],
      ]);
    });

    test('has a batch undone by an error in it, and done without', async () => {
      const sql = neon(gateway.connectionString());
      await expect(sql.transaction([sql`insert into notes values (10, 'x')`, sql`select 1/0`])).rejects.toThrow(
        'division',
      );
      expect(await sql`select 1 from notes where id = 10`).toEqual([]);
      await sql.transaction([
        sql`insert into notes values (11, 'y')`,
        sql`delete from notes where id = 11 returning id`,
      ]);
      expect(await sql`select 1 from notes where id = 11`).toEqual([]);
    });

    test('runs many statements at once', async () => {
      const sql = neon(gateway.connectionString());
      const numbers = Array.from({ length: 40 }, (_, i) => i);
      const results = await Promise.all(numbers.map((i) => sql`select ${i}::int as n, pg_sleep(0.001)::text`));
      expect(results.map(([row]) => row?.['n'])).toEqual(numbers);
    });
  });

  describe('the role', () => {
    test('is the user that the client names', async () => {
      const sql = neon(gateway.connectionString({ user: 'reader' }));
      expect(await sql`select current_user, id from notes where id = 1`).toEqual([{ current_user: 'reader', id: 1 }]);
      await expect(sql`delete from notes`).rejects.toMatchObject({ code: '42501' });
    });

    const names = ['enable_bitmapscan', 'search_path', 'log_min_duration_statement'];
    const settings = names.map((name) => `current_setting('${name}')`).join(', ');
    const values = ['"$user", public, "a b"', '12345ms'];

    test('has the settings that it would have after logging in, however often it comes', async () => {
      const reader = { 'Neon-Connection-String': gateway.connectionString({ user: 'reader' }) };
      for (let i = 0; i < 3; i++) {
        const query = `select set_config('enable_bitmapscan', 'on', false), ${settings}`;
        expect(await gateway.rowsOf(`select ${settings}`, [], reader)).toEqual([['off', ...values]]);
        expect(await gateway.rowsOf(query, [], reader)).toEqual([['on', 'on', ...values]]);
      }
    });

    test('is not left to the next client, nor are its settings', async () => {
      // All of the gateway's connections, one after the other and at once, whoever had them before.
      for (const user of ['reader', 'postgres', 'reader', 'postgres']) {
        const headers = { 'Neon-Connection-String': gateway.connectionString({ user }) };
        const query = `select current_user, current_setting('enable_bitmapscan'), pg_sleep(0.01)::text`;
        const answers = await Promise.all(
          Array.from({ length: maxConnections }, () => gateway.rowsOf(query, [], headers)),
        );
        expect(answers).toEqual(
          Array.from({ length: maxConnections }, () => [[user, user === 'reader' ? 'off' : 'on', '']]),
        );
      }
    });

    test('has to exist', async () => {
      const headers = { 'Neon-Connection-String': gateway.connectionString({ user: 'no"body' }) };
      expect(await gateway.failure({ query: 'select 1' }, headers)).toMatchObject({ status: 400, code: '22023' });
    });
  });

  test('forgets settings, temporary tables and open transactions after each request', async () => {
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
      ['COPY from the client', 'copy notes from stdin', { code: '', message: 'unexpected message from server' }],
    ])('%s, and goes on', async (_, query, expected) => {
      expect(await gateway.failure({ query })).toMatchObject({ status: 400, ...expected });
      expect(await gateway.rowsOf('select count(*) from notes')).toEqual([['2']]);
    });

    test('with the very fields of Neon’s errors', async () => {
      expect(Object.keys(await gateway.failure({ query: 'select 1/0' })).join()).toBe(
        'status,message,code,detail,hint,position,internalPosition,internalQuery,severity,where,table,column,schema,dataType,constraint,file,line,routine',
      );
    });

    test.each([
      ['no connection string', () => ({ [header]: '' }), 'invalid connection string'],
      ['another scheme', () => ({ [header]: 'mysql://a:b@c.d/e' }), 'incorrect scheme'],
      ['no user', () => ({ [header]: 'postgres://c.d/e' }), 'missing username'],
      [
        'no password',
        () => ({ [header]: 'postgres://a@c.d/e' }),
        'missing authentication credentials: required password',
      ],
      ['no database', () => ({ [header]: 'postgres://a:b@c.d' }), 'missing database name'],
      [
        'a wrong password',
        () => ({ [header]: gateway.connectionString({ user: 'reader', password: 'wrong' }) }),
        `password authentication failed for user 'reader'`,
      ],
      ['an unknown isolation level', () => ({ 'Neon-Batch-Isolation-Level': 'Chaos' }), 'invalid isolation level'],
    ])('%s', async (_, headers, message) => {
      expect(await gateway.failure({ query: 'select 1' }, headers())).toMatchObject({
        status: 400,
        message,
        code: '',
        severity: '',
      });
    });

    test('another database', async () => {
      const headers = { [header]: gateway.connectionString({ database: 'elsewhere' }) };
      expect(await gateway.failure({ query: 'select 1' }, headers)).toMatchObject({ status: 400, code: '3D000' });
    });

    test.each(['{"query":', '[]', '{"query":1}', '{"queries":[{}]}', '{"query":"select 1","params":{}}'])(
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

    test('other routes', async () => {
      const { status, headers } = await fetch(new URL('/other', gateway.url), { method: 'POST' });
      expect(status).toBe(400);
      expect(headers.has('neon-request-id')).toBe(true);
      expect((await fetch(gateway.url)).status).toBe(400);
    });
  });

  test('answers a preflight', async () => {
    const { status, headers } = await fetch(gateway.url, { method: 'OPTIONS' });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-headers')).toContain('Neon-Connection-String');
  });

  describe('a response past the limit', () => {
    test('is 507, however much there would be, and the gateway goes on', async () => {
      const query = `select repeat('x', 1000) from generate_series(1, 20000)`;
      expect(await gateway.failure({ query })).toMatchObject({
        status: 507,
        message: `response is too large (max is ${LIMIT} bytes)`,
        code: '',
      });
      expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
    });

    test('may consist of one row', async () => {
      expect(await gateway.rowsOf(`select length(repeat('x', ${LIMIT * 3})), repeat('x', ${LIMIT * 3})`)).toHaveLength(
        1,
      );
    });

    test('counts all statements of a batch, which it undoes', async () => {
      const half = { query: `select repeat('x', ${LIMIT - 1000}) union all select 'y'` };
      const batch = { queries: [{ query: 'insert into notes values (20)' }, half, half] };
      expect(await gateway.failure(batch)).toMatchObject({ status: 507 });
      expect(await gateway.rowsOf('select 1 from notes where id = 20')).toEqual([]);
    });
  });

  test('lets others have a connection between two requests', async () => {
    await gateway.rowsOf('select 1');
    expect(await gateway.directly('select 1')).toEqual([[1]]);
  });
});
