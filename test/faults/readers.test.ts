import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSurvey as createBulkSurvey } from '../../bench/data.ts';
import { type TestSurvey, copyResponses, createAccount, sql, withClient } from '../support/data.ts';
import { beginExport, readExport, withFaultyService } from './service.ts';

const service = withFaultyService();

/** More than sockets and the pages read ahead can hold. */
const ROWS = 250_000;
let survey: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  const account = await createAccount();
  const { name, forms } = await withClient((client) =>
    createBulkSurvey(client, account, { name: 'bulk', rows: ROWS, forms: 5 }),
  );
  survey = { name, account, forms: forms.map((id) => ({ id, shortcode: 'form' })) };
  await sql('vacuum analyze responses');
  whole = await copyResponses(survey);
});

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
    if (requests === service.proxy.requests && (await runningQueries()).length === 0) return requests;
  }
}

describe('a client that pauses', () => {
  test('stops reads from the database, and then gets the whole file', async () => {
    service.proxy.inject();
    const response = await beginExport(survey);
    response.pause();
    const whilePaused = await requestsWhenQuiet();
    expect(await runningQueries()).toEqual([]);
    const { complete, bytes } = await readExport(response);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
    expect(service.proxy.requests).toBeGreaterThan(whilePaused + 5);
  });
});

describe('concurrent exports', () => {
  /** Starts exports, and holds all pages after the first of each, which has 500 rows, until `release`. */
  async function begin(readers: number) {
    const held: (() => void)[] = [];
    let isHolding = true;
    service.proxy.inject(({ query, params }) => {
      if (!isHolding || !query.includes('question_text') || Number(params[0]) <= 500) return undefined;
      return new Promise<void>((resolve) => held.push(resolve));
    });
    const responses = await Promise.all(Array.from({ length: readers }, () => beginExport(survey)));
    const release = () => {
      isHolding = false;
      for (const resolve of held) resolve();
    };
    return { responses, held, release };
  }

  async function expectFivePagesAhead() {
    const { responses, held, release } = await begin(1);
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(5);
    for (const response of responses) response.destroy();
    release();
  }

  test('read at most ten pages ahead together, and each at least one; a single export reads five', async () => {
    await expectFivePagesAhead();

    const { responses, held, release } = await begin(8);
    await expect.poll(() => held.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(10);
    await sleep(1000);
    expect(held.length).toBeLessThanOrEqual(10 + 7);
    for (const response of responses.slice(1)) response.destroy();
    release();
    const { complete, bytes } = await readExport(responses[0] as IncomingMessage);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });

    await expectFivePagesAhead(); // clients that have disconnected no longer count
  });
});

describe('a client that disconnects', () => {
  test.each([0, 1, 1_000_000, 20_000_000])('after %i bytes ends all queries', async (least) => {
    service.proxy.inject();
    const response = await beginExport(survey);
    let read = 0;
    if (least > 0) {
      for await (const chunk of response) {
        read += (chunk as Buffer).length;
        if (read >= least) break;
      }
    }
    response.destroy();
    await expect.poll(runningQueries, { timeout: 10_000 }).toEqual([]);
    const { requests } = service.proxy;
    await sleep(500);
    expect(service.proxy.requests).toBe(requests);
  });

  test('cancels the running query', async () => {
    await withClient(async (client) => {
      await client.query('begin');
      const response = await beginExport(survey);
      // Every query after the first page waits for the lock. The page stays unread, so that the client disconnects with a TCP
      // reset: workerd notices a FIN only at its next write.
      await client.query('lock table responses in access exclusive mode');
      await expect.poll(async () => (await runningQueries()).length, { timeout: 10_000 }).toBeGreaterThan(0);
      response.destroy();
      await sleep(1000);
      const running = await runningQueries();
      await client.query('rollback');
      expect(running).toEqual([]);
    });
  });
});
