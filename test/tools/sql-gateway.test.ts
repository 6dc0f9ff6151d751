import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayUnderTest, LIMIT, startGateway } from '../support/sql-endpoint.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

const CONNECTIONS = 3;

describe('the SQL gateway', () => {
  let server: TestPostgres;
  let gateway: GatewayUnderTest;

  beforeAll(async () => {
    server = await startPostgres();
    gateway = await startGateway(await server.createDatabase(), CONNECTIONS);
    await gateway.directly(`
      create role reader login;
      alter role reader set enable_bitmapscan = on;
      do $$ begin execute format('alter role reader in database %I set enable_bitmapscan = off', current_database()); end $$;
      alter role reader in database postgres set enable_hashjoin = off;
      alter role reader set search_path = "$user", public, "a b";
      alter role reader set log_min_duration_statement = 12345; -- requires a superuser
    `);
  });

  afterAll(async () => {
    await gateway?.close();
    await server?.stop();
  });

  test('gives a statement the settings of its role, as a login does', async () => {
    const settings = {
      enable_bitmapscan: 'off',
      enable_hashjoin: 'on', // set in another database only
      search_path: '"$user", public, "a b"',
      log_min_duration_statement: '12345ms',
    };
    const query = `select ${Object.keys(settings)
      .map((name) => `current_setting('${name}')`)
      .join()}`;
    const rows = await gateway.rowsOf(query, [], gateway.as({ user: 'reader' }));
    expect(rows).toEqual([Object.values(settings)]);
  });

  describe('refuses', () => {
    test('a role that does not exist', async () => {
      const nobody = gateway.as({ user: 'no"body' });
      expect(await gateway.failure({ query: 'select 1' }, nobody)).toMatchObject({ status: 400, code: '22023' });
    });

    test('another database', async () => {
      const elsewhere = gateway.as({ database: 'elsewhere' });
      expect(await gateway.failure({ query: 'select 1' }, elsewhere)).toMatchObject({ status: 400, code: '3D000' });
    });

    test.each([
      ['rows as objects', { 'Neon-Array-Mode': 'false' }, 'Neon-Array-Mode must be "true" here'],
      ['parsed values', { 'Neon-Raw-Text-Output': 'TRUE' }, 'Neon-Raw-Text-Output must be "true" here'],
    ])('%s', async (_, headers, message) => {
      const expected = { status: 400, message, code: '', severity: '' };
      expect(await gateway.failure({ query: 'select 1' }, headers)).toMatchObject(expected);
    });

    test.each(['{"queries":[]}', '{"query":"select 1","params":[1]}'])('the body %s', async (body) => {
      const message = expect.stringMatching(/^could not parse the HTTP request body: ./);
      expect(await gateway.failure(body)).toMatchObject({ status: 400, message });
    });

    test('a request that is far too large', async () => {
      const query = `select '${'x'.repeat(LIMIT * 20)}'`;
      expect(await gateway.failure({ query })).toMatchObject({ status: 413 });
    });
  });
});
