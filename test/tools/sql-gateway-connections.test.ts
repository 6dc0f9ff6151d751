import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres, PASSWORD, startGateway, type GatewayUnderTest } from '../support/gateway.ts';
import { startSqlGateway } from '../../tools/sql-gateway.ts';

const MAX_CONNECTIONS = 3;
const LONG = 'select pg_sleep(600)';

describe('the connections of the SQL gateway', () => {
  let database: Awaited<ReturnType<typeof openPostgres>>;
  let gateway: GatewayUnderTest;

  beforeAll(async () => {
    database = await openPostgres();
    gateway = await startGateway(database, MAX_CONNECTIONS);
  });

  afterAll(async () => {
    await gateway?.close();
    await database?.close();
  });

  /** Starts a statement that takes long, and returns when it is running. */
  async function startLong(url: string) {
    const { hostname, port, pathname: path } = new URL(url);
    const headers = { 'Neon-Connection-String': gateway.connectionString() };
    const running = request({ hostname, port, path, method: 'POST', headers });
    running.on('error', () => {});
    running.end(JSON.stringify({ query: LONG }));
    await expect.poll(countLong).toBe(1);
    return running;
  }

  async function countLong(): Promise<number> {
    const query = 'select from pg_stat_activity where query = $1 and state = $2';
    return (await gateway.directly(query, [LONG, 'active'])).length;
  }

  test('are given up, and their statement cancelled, when the client has gone', async () => {
    const leaving = await startLong(gateway.url);
    leaving.destroy();
    await expect.poll(countLong, { timeout: 5000 }).toBe(0);
    expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
  });

  test('end with the gateway, whatever they are running', async () => {
    const other = await startGateway(database, MAX_CONNECTIONS);
    await startLong(other.url);
    await other.close();
    await expect.poll(countLong, { timeout: 5000 }).toBe(0);
    await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  });

  test('are never more than they may be: further requests wait', async () => {
    const count = `select count(*), pg_sleep(0.05)::text from pg_stat_activity where datname = current_database()`;
    const counts = await Promise.all(Array.from({ length: 4 * MAX_CONNECTIONS }, () => gateway.rowsOf(count)));
    expect(counts).toEqual(counts.map(() => [[expect.stringMatching(/^[1-3]$/), '']]));
    expect(counts).toContainEqual([['3', '']]);
  });

  test('are made again after the server has ended one in a statement', async () => {
    const lost = await gateway.failure({ query: 'select pg_terminate_backend(pg_backend_pid())' });
    expect(lost).toMatchObject({ status: 400, code: '57P01', severity: 'FATAL' });
    expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
  });

  test('are made again after the server has ended all while they were idle', async () => {
    await Promise.all([gateway.rowsOf('select 1'), gateway.rowsOf('select 2')]);
    const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await gateway.directly(`select pg_terminate_backend(pid) ${others}`);
    await expect.poll(() => gateway.directly(`select ${others}`)).toEqual([]);
    expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
  });
});

describe('without a database behind it, the SQL gateway', () => {
  test('answers 500', async () => {
    const database = 'postgres://postgres:secret@127.0.0.1:1/postgres';
    const gateway = await startSqlGateway({ database, password: PASSWORD });
    const headers = { 'Neon-Connection-String': `postgres://postgres:${encodeURIComponent(PASSWORD)}@h.i/postgres` };
    const response = await fetch(gateway.url, { method: 'POST', headers, body: '{"query":"select 1"}' });
    const text = await response.text();
    await gateway.close();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ message: expect.stringContaining('ECONNREFUSED'), code: '' });
    expect(text).not.toContain('secret');
  });
});
