import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  copyResponses,
  createAccount,
  createBulkSurvey,
  sql,
  withClient,
} from '../support/data.ts';
import { untilBlocked } from '../support/database.ts';
import { beginExport, decompress, download, readExport } from '../support/export.ts';
import { lineOf } from '../support/request-log.ts';
import { readZip } from '../support/xlsx.ts';
import { FEW_RETRIES, isLaterPage, startFaultyService } from './service.ts';

const service = await startFaultyService();

/**
 * Of text that hardly compresses: more than sockets and the pages read ahead can hold, even as
 * gzip.
 */
const ROWS = 9_000;
const GZIP = { 'Accept-Encoding': 'gzip' };
const random = `(select string_agg(encode(sha512((n || ' ' || i)::bytea), 'base64'), '') from generate_series(1, 22) i)`;
const columns = { response: `n || '", ' || ${random}` };
const survey = await createBulkSurvey(await createAccount(), { rows: ROWS, forms: 5, columns });
await sql('vacuum analyze responses');
const whole = await copyResponses(survey);

const runningQueries = () =>
  sql<{ query: string }>(
    `select query from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and backend_type = 'client backend'`,
  );

/** Waits until there are no more requests to the database. @returns their number */
async function requestsWhenQuiet(): Promise<number> {
  for (;;) {
    const { requests } = service.proxy;
    await sleep(1000);
    if (requests === service.proxy.requests && (await runningQueries()).length === 0)
      return requests;
  }
}

test.each([
  ['gzip', 'csv', GZIP],
  ['workbook', 'xlsx', {}],
] as const)(
  'a client of a %s download that pauses stops reads from the database, and then gets the whole file',
  async (kind, file, headers) => {
    service.proxy.inject();
    const response = await beginExport(survey, { file, headers });
    response.pause();
    const whilePaused = await requestsWhenQuiet();
    const { complete, bytes } = await readExport(response);
    const isWhole = {
      gzip: () => decompress(bytes, complete).equals(whole),
      workbook: () => readZip(bytes).size > 0, // it checks every length and CRC
    }[kind];
    expect({ complete, isWhole: isWhole() }).toEqual({ complete: true, isWhole: true });
    expect(service.proxy.requests).toBeGreaterThan(whilePaused);
  },
);

test('a client that disconnects ends the running query', async () => {
  await withClient(async (client) => {
    await client.query('begin');
    let locking: Promise<unknown> | undefined;
    // Every query from the second page on waits for the lock. The page stays unread, so that the
    // client disconnects with a TCP reset: workerd notices a FIN only at its next write.
    service.proxy.inject(async (exchange) => {
      if (locking || isLaterPage(exchange))
        await (locking ??= client.query('lock table responses in access exclusive mode'));
    });
    const response = await beginExport(survey);
    await expect.poll(() => locking).toBeDefined();
    await locking;
    await untilBlocked(service.stack.address.databaseUrl);
    response.destroy();
    await expect.poll(runningQueries).toEqual([]);
    await client.query('rollback');
  });
});

test('an export under gzip that fails is a broken transfer, and a broken file for clients that ignore that', async () => {
  service.proxy.inject((exchange) => {
    if (exchange.index >= 7) exchange.reset();
  });
  const headers = { ...GZIP, ...FEW_RETRIES };
  const { line, result } = await lineOf(service.stack.worker, () => download(survey, { headers }));
  const { complete, bytes } = result;
  expect(complete).toBe(false);
  expect(line).toMatchObject({ status: 200, end: 'failed', reason: 'database: transient' });
  expect(() => gunzipSync(bytes)).toThrow('unexpected end of file');
  const beginning = decompress(bytes, complete);
  expect(beginning.length).toBeGreaterThan(100_000);
  expect(whole.subarray(0, beginning.length).equals(beginning)).toBe(true);
});
