import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { type Identity, LIMIT, startGateway } from '../support/sql-endpoint.ts';
import { startPostgres } from '../support/postgres.ts';

const MAX_CONNECTIONS = 3;
const LONG = 'select pg_sleep(600)';
const UNREADABLE: unknown = expect.stringMatching(/^could not parse the HTTP request body: ./);

describe('the SQL gateway', async () => {
  const server = await startPostgres();
  const databaseUrl = await server.createDatabase();
  const gateway = await startGateway(databaseUrl, MAX_CONNECTIONS);

  await gateway.directly(`
    create role reader login;
    alter role reader set enable_bitmapscan = on;
    do $$ begin execute format('alter role reader in database %I set enable_bitmapscan = off', current_database()); end $$;
    alter role reader in database postgres set enable_hashjoin = off;
    alter role reader set search_path = "$user", public, "a b";
    alter role reader set log_min_duration_statement = 12345; -- requires a superuser
  `);
  afterAll(async () => {
    await gateway.close();
    await server.stop();
  });

  test('gives a statement the settings of its role, as a login does', async () => {
    const settings = {
      enable_bitmapscan: 'off',
      enable_hashjoin: 'on', // set in another database only
      search_path: '"$user", public, "a b"',
      log_min_duration_statement: '12345ms',
    };
    const names = Object.keys(settings).map((name) => `current_setting('${name}')`);
    const rows = await gateway.rowsOf(`select ${names.join()}`, [], gateway.as({ user: 'reader' }));
    expect(rows).toEqual([Object.values(settings)]);
  });

  test.each<[string, object, Identity, object]>([
    ['a role that does not exist', {}, { user: 'no"body' }, { status: 400, code: '22023' }],
    ['another database', {}, { database: 'elsewhere' }, { status: 400, code: '3D000' }],
    ['a transaction', { query: undefined, queries: [] }, {}, { status: 400, message: UNREADABLE }],
    ['a parameter that is not a text', { params: [1] }, {}, { status: 400, message: UNREADABLE }],
    ['a request that is far too large', { query: `select '${'x'.repeat(LIMIT * 20)}'` }, {}, { status: 413 }],
  ])('refuses %s', async (_, body, identity, expected) => {
    const failure = await gateway.failure({ query: 'select 1', ...body }, gateway.as(identity));
    expect(failure).toMatchObject(expected);
  });

  async function countLong(): Promise<number> {
    const query = 'select from pg_stat_activity where query = $1 and state = $2';
    return (await gateway.directly(query, [LONG, 'active'])).length;
  }

  test('runs no statement of a client that disconnected while it waited for a connection', async () => {
    const other = await startGateway(databaseUrl, 1);
    onTestFinished(() => other.close());
    await withConnection(databaseUrl, async (holder) => {
      await holder.query('select pg_advisory_lock(1)');
      const first = other.rowsOf('select pg_advisory_xact_lock(1)::text');
      await expect.poll(() => gateway.directly('select from pg_locks where not granted')).toHaveLength(1);
      const leaving = new AbortController();
      const waiting = other.post({ query: 'create table unwanted ()' }, {}, leaving.signal).catch(() => {});
      await sleep(300);
      leaving.abort();
      await waiting;
      await sleep(300);
      await holder.query('select pg_advisory_unlock(1)');
      await first;
    });
    expect(await other.rowsOf(`select to_regclass('unwanted')::text`)).toEqual([[null]]);
  });

  test('closes all connections when it is closed, whatever they are running', async () => {
    const other = await startGateway(databaseUrl, MAX_CONNECTIONS);
    other.post({ query: LONG }).catch(() => {});
    await expect.poll(countLong).toBe(1);
    await other.close();
    await expect.poll(countLong).toBe(0);
    await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  });

  test('never exceeds the limit of connections: further requests wait, and each gets its own result', async () => {
    // Counts the connections that have run this statement, and waits.
    const count = `select $1, pg_advisory_xact_lock_shared(2)::text, count(*)
      from pg_stat_activity where query = current_query()`;
    const counts = await withConnection(databaseUrl, async (holder) => {
      await holder.query('select pg_advisory_lock(2)');
      const running = Array.from({ length: 4 * MAX_CONNECTIONS }, (_, i) => gateway.rowsOf(count, [String(i)]));
      const waiting = () => gateway.directly('select from pg_locks where not granted');
      await expect.poll(waiting).toHaveLength(MAX_CONNECTIONS);
      await holder.query('select pg_advisory_unlock(2)');
      return Promise.all(running);
    });
    expect(counts.map(([row]) => row?.[0])).toEqual(counts.map((_, i) => String(i)));
    expect(Math.max(...counts.map(([row]) => Number(row?.[2])))).toBe(MAX_CONNECTIONS);
  });

  test('replaces its connections when the server closes all of them while they are idle', async () => {
    await Promise.all([gateway.rowsOf('select 1'), gateway.rowsOf('select 2')]);
    const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await gateway.directly(`select pg_terminate_backend(pid) ${others}`);
    await expect.poll(() => gateway.directly(`select ${others}`)).toEqual([]);
    expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
  });

  // Last, because the server then closes its other connections as well.
  test('responds with 400 when a connection is lost without an error of the server', async () => {
    const lost = gateway.failure({ query: LONG });
    await expect.poll(countLong).toBe(1);
    const [[pid] = []] = await gateway.directly('select pid from pg_stat_activity where query = $1', [LONG]);
    process.kill(Number(pid), 'SIGKILL');
    expect(await lost).toMatchObject({ status: 400, message: 'connection closed', code: '' });
  });
});

describe('the SQL gateway without a database', () => {
  const startOn = (port: number) => startGateway(`postgres://postgres:secret@127.0.0.1:${port}/postgres`, 1);

  test('returns 500, without the password', async () => {
    const gateway = await startOn(1);
    const failure = await gateway.failure({ query: 'select 1' });
    await gateway.close();
    expect(failure).toMatchObject({ status: 500, message: expect.stringContaining('ECONNREFUSED'), code: '' });
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  test('closes while a server does not respond', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const gateway = await startOn((silent.address() as AddressInfo).port);
    const outcome = gateway.post({ query: 'select 1' }).catch(String);
    await once(silent, 'connection');
    await gateway.close();
    silent.close();
    expect(await outcome).toBe('TypeError: fetch failed');
  });
});
