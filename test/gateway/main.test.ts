import { once } from 'node:events';
import { expect, test } from 'vitest';
import { query, startDatabase, untilBlocked } from '../support/database.ts';
import { startProgram } from '../support/programs.ts';
import { startTool } from '../support/run-tool.ts';
import { SqlEndpoint, TOKEN } from '../support/sql-endpoint.ts';
import { withConnection } from '../../tools/connection.ts';

const VALID = {
  GATEWAY_DATABASE: 'postgresql://db.example.org/survey?sslmode=verify-full',
  GATEWAY_TOKEN: TOKEN,
};

test.each<[Record<string, string>, RegExp]>([
  [
    { GATEWAY_DATABASE: '', GATEWAY_TOKEN: '' },
    /^GATEWAY_DATABASE must be .*\nGATEWAY_TOKEN must have at least 32/,
  ],
  [
    { GATEWAY_DATABASE: 'postgresql://user:secret@localhost/survey' },
    /GATEWAY_DATABASE .* without user and password/,
  ],
  [{ GATEWAY_DATABASE: 'postgresql://db.example.org/survey' }, /GATEWAY_DATABASE needs sslmode/],
  [
    { GATEWAY_DATABASE: 'postgresql://localhost/survey?host=db.example.org' },
    /GATEWAY_DATABASE needs sslmode/,
  ],
  [{ GATEWAY_TOKEN: 'with spaces '.repeat(3) }, /GATEWAY_TOKEN/],
  [{ GATEWAY_LISTEN: '0.0.0.0:4444' }, /Set GATEWAY_WITHOUT_TLS=yes/],
  [{ GATEWAY_LISTEN: '[::]:4444', GATEWAY_WITHOUT_TLS: 'true' }, /GATEWAY_WITHOUT_TLS=yes/],
  [{ GATEWAY_LISTEN: '4444' }, /GATEWAY_LISTEN must be/],
  [{ GATEWAY_CONNECTIONS: '0' }, /GATEWAY_CONNECTIONS must be/],
])('npm run gateway refuses the settings %j', async (settings, message) => {
  const { status, stderr } = await startTool('../gateway/main.ts', [], { ...VALID, ...settings })
    .outcome;
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(stderr).not.toContain('secret');
});

test('a gateway that npm has started ends with it', async () => {
  const env = {
    ...VALID,
    GATEWAY_LISTEN: '127.0.0.1:0',
    GATEWAY_DATABASE: 'postgresql://localhost/survey',
  };
  const npm = startProgram(['npm', 'run', '--silent', 'gateway'], { env });
  const [line] = (await once(npm.child.stderr, 'data')) as [Buffer];
  const [endpoint = ''] = /http:\S+/.exec(String(line)) ?? [];
  npm.child.kill('SIGTERM');
  await expect
    .poll(() => fetch(endpoint).catch((error: Error) => error.message))
    .toBe('fetch failed');
  await npm.outcome;
});

/** Starts the gateway in front of a new database. */
async function startGateway() {
  const { url } = await startDatabase();
  const { host, pathname, username, password } = new URL(url);
  const env = {
    ...VALID,
    GATEWAY_DATABASE: `postgresql://${host}${pathname}`,
    GATEWAY_LISTEN: '127.0.0.1:0',
  };
  const gateway = startTool('../gateway/main.ts', [], env);
  const [line] = (await once(gateway.child.stderr, 'data')) as [Buffer];
  const [endpoint = ''] = /http:\S+/.exec(String(line)) ?? [];
  const connection = `postgresql://${username}:${password}@${host}${pathname}`;
  return { url, gateway, sql: new SqlEndpoint(endpoint, connection, url) };
}

test('npm run gateway completes running requests on SIGTERM, and accepts no more', async () => {
  const { url, gateway, sql } = await startGateway();
  const running = await withConnection(url, async (holder) => {
    await holder.query('select pg_advisory_lock(1)');
    const rows = sql.rowsOf('select pg_advisory_xact_lock(1)::text');
    await untilBlocked(url);
    gateway.child.kill('SIGTERM');
    await expect
      .poll(() => sql.rowsOf('select 1').catch((error: Error) => error.message))
      .toBe('fetch failed');
    await holder.query('select pg_advisory_unlock(1)');
    return rows;
  });
  expect(running).toEqual([['']]);
  const { status, stdout } = await gateway.outcome;
  expect([status, JSON.parse(stdout.split('\n')[0] ?? '')]).toMatchObject([0, { status: 200 }]);
});

test('npm run gateway ends running requests, and their statements, on a second signal', async () => {
  const { url, gateway, sql } = await startGateway();
  const ended = sql.post({ query: 'select pg_sleep(600)' }).catch((error: Error) => error.message);
  const isRunning = `select from pg_stat_activity where query = 'select pg_sleep(600)'`;
  await expect.poll(() => sql.directly(isRunning)).toHaveLength(1);
  gateway.child.kill('SIGTERM');
  await expect
    .poll(() => fetch(sql.url).catch((error: Error) => error.message))
    .toBe('fetch failed');
  gateway.child.kill('SIGINT');
  expect(await ended).toBe('fetch failed');
  expect((await gateway.outcome).status).toBe(0);
  expect(await query(url, isRunning)).toEqual([]);
});
