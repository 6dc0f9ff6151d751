import { Socket } from 'node:net';
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { WORKER_ROLE } from '../../tools/worker-role.ts';
import { migrateServer, query } from '../support/database.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { startPostgres } from '../support/postgres.ts';
import { startTestGateway } from '../support/sql-endpoint.ts';

const postgres = await startPostgres();
const url = await postgres.createDatabase();
await migrateServer(url);
/** The URL of the Worker's role. */
const pooled = await startPgBouncer(url);
const gateway = await startTestGateway(pooled);
afterAll(async () => {
  await gateway.close();
  await postgres.stop();
});

test('every connection has the settings of the Worker’s role', async () => {
  const settings = [
    'statement_timeout',
    'idle_in_transaction_session_timeout',
    'enable_seqscan',
    'enable_bitmapscan',
  ];
  const values = settings.map((name) => `current_setting('${name}')`).join();
  const select = `select current_user, ${values}, pg_backend_pid(), pg_sleep(0.1)`;
  const rows = (await Promise.all(Array.from({ length: 50 }, () => gateway.rowsOf(select)))).flat();
  for (const row of rows)
    expect(row.slice(0, 5)).toEqual([WORKER_ROLE, '65s', '65s', 'off', 'off']);
  expect(new Set(rows.map((row) => row[5])).size).toBeGreaterThan(1);
});

test.each(['is cancelled', 'ends without a cancel request'])(
  'a statement %s when the client disconnects',
  async (how) => {
    const long = 'select pg_sleep(59)';
    const running = () =>
      query(postgres.url, `select from pg_stat_activity where query = $1 and state = 'active'`, [
        long,
      ]);
    const client = new AbortController();
    const lost = new Client({
      connectionString: pooled,
      stream: () => new Socket({ signal: client.signal }),
    });
    const response =
      how === 'is cancelled'
        ? gateway.post({ query: long }, {}, client.signal)
        : lost.connect().then(() => lost.on('error', () => {}).query(long));
    await expect.poll(running).toHaveLength(1);
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await expect.poll(running, { timeout: 15_000 }).toEqual([]);
  },
);
