import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { query, startDatabase, untilBlocked } from '../support/database.ts';
import { refusal } from '../support/expected.ts';
import { startProgram } from '../support/programs.ts';
import { runHere } from '../support/run-here.ts';
import { startTool } from '../support/run-tool.ts';
import { SqlEndpoint, TOKEN } from '../support/sql-endpoint.ts';
import { messageOf } from '../../tools/command.ts';
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
  const outcome = await runHere('../gateway/main.ts', '', { ...VALID, ...settings });
  expect(outcome).toEqual(refusal(message));
  expect(outcome.stderr).not.toContain('secret');
});

/** The address that a gateway prints first. */
async function addressFrom({ stderr }: { stderr: Readable }): Promise<string> {
  const [line] = (await once(stderr, 'data')) as [Buffer];
  return /http:\S+/.exec(String(line))?.[0] ?? '';
}

test('a gateway that npm has started ends with it', async () => {
  const env = {
    ...VALID,
    GATEWAY_LISTEN: '127.0.0.1:0',
    GATEWAY_DATABASE: 'postgresql://localhost/survey',
  };
  const npm = startProgram(['npm', 'run', '--silent', 'gateway'], { env });
  const address = await addressFrom(npm.child);
  npm.child.kill('SIGTERM');
  await expect.poll(() => fetch(address).catch(messageOf)).toBe('fetch failed');
  await npm.outcome;
});

test('npm run gateway accepts no more requests on SIGTERM, and completes those that are running; it ends them, and their statements, on a second signal', async () => {
  const { url } = await startDatabase();
  const { host, pathname, username, password } = new URL(url);
  const env = {
    ...VALID,
    GATEWAY_DATABASE: `postgresql://${host}${pathname}`,
    GATEWAY_LISTEN: '127.0.0.1:0',
  };
  const { child, outcome } = startTool('../gateway/main.ts', [], env);
  const connection = `postgresql://${username}:${password}@${host}${pathname}`;
  const sql = new SqlEndpoint(await addressFrom(child), connection, url);
  const ended = sql.post({ query: 'select pg_sleep(600)' }).catch(messageOf);
  const isRunning = `select from pg_stat_activity where query = 'select pg_sleep(600)'`;
  await expect.poll(() => sql.directly(isRunning)).toHaveLength(1);

  const completed = await withConnection(url, async (holder) => {
    await holder.query('select pg_advisory_lock(1)');
    const rows = sql.rowsOf('select pg_advisory_xact_lock(1)::text');
    await untilBlocked(url);
    child.kill('SIGTERM');
    await expect.poll(() => fetch(sql.url).catch(messageOf)).toBe('fetch failed');
    await holder.query('select pg_advisory_unlock(1)');
    return rows;
  });
  expect(completed).toEqual([['']]);

  child.kill('SIGINT');
  expect(await ended).toBe('fetch failed');
  const { status, stdout } = await outcome;
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^\{.*"status":200.*\}$/m)]);
  expect(await query(url, isRunning)).toEqual([]);
});
