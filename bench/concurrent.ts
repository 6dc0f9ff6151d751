import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  type BenchAccount,
  type BenchSurvey,
  createAccount,
  createKey,
  createSurvey,
} from './data.ts';
import type { Figure, Measurement } from './report.ts';
import { startService } from './service.ts';

const CLIENTS = 10;
/** Every other client waits this long after each chunk of 64 KiB, so it takes about 3 MB/s. */
const SLOW_MS = 20;

/**
 * Measures ten concurrent exports of three accounts, half of them read slowly, until the fast ones
 * have ended.
 *
 * @param survey large, because what is sent but not yet read by the slow clients, some megabytes
 * each, does not count
 */
export async function measureConcurrent(
  databaseUrl: string,
  client: pg.Client,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  await using service = await startService(databaseUrl);
  const path = `/responses/csv?survey=${survey.name}`;
  const accounts = [account];
  for (const email of ['second@example.org', 'third@example.org']) {
    const added = await createAccount(client, email);
    await createSurvey(client, added, {
      name: survey.name,
      rows: survey.rows,
      forms: survey.forms.length,
    });
    accounts.push(added);
  }
  await client.query('vacuum analyze responses');
  const keys = Array.from(
    { length: CLIENTS },
    (_, i) => accounts[i % accounts.length] as BenchAccount,
  );

  /**
   * Exports by that many clients at a time. @returns bytes per second, until the last fast client
   * has ended
   */
  const rateOf = async (clients: number) => {
    let bytes = 0;
    const start = performance.now();
    const responses = await Promise.all(
      keys.slice(0, clients).map(({ key }) => service.open(path, key)),
    );
    const read = async (response: (typeof responses)[number], pauseMs: number) => {
      for await (const chunk of response) {
        bytes += (chunk as Buffer).length;
        if (pauseMs > 0) await sleep(pauseMs);
      }
    };
    const slow = responses
      .filter((_, i) => i % 2 === 1)
      .map((response) => read(response, SLOW_MS).catch(() => {}));
    await Promise.all(responses.filter((_, i) => i % 2 === 0).map((response) => read(response, 0)));
    const rate = bytes / ((performance.now() - start) / 1000);
    for (const response of responses) response.destroy();
    await Promise.all(slow);
    return rate;
  };

  await rateOf(1); // warms up
  const alone: number[] = [];
  const all: number[] = [];
  for (let i = 0; i < runs; i++) {
    alone.push(await rateOf(1));
    all.push(await rateOf(CLIENTS));
  }
  const [best, bestOfAll] = [Math.max(...alone), Math.max(...all)];
  return {
    figures: [
      {
        name: `${CLIENTS} exports at a time, half of them read slowly ÷ one, bytes/s`,
        value: bestOfAll / best,
        bound: { atLeast: 0.8 },
      },
    ],
    measurements: [
      { name: `${CLIENTS} exports at a time`, value: bestOfAll / 2 ** 20, unit: 'MiB/s' },
    ],
  };
}

/** As many as one account can have at a time, three and those that wait. */
const PAGING_CLIENTS = 35;
const PAGES_PER_CLIENT = 10;

/**
 * Measures a page of 25 that many clients, each with its own key, request again and again at the
 * same time.
 */
export async function measurePaging(
  databaseUrl: string,
  client: pg.Client,
  survey: BenchSurvey,
  account: BenchAccount,
): Promise<Measurement[]> {
  await using service = await startService(databaseUrl);
  const path = `/responses?survey=${survey.name}&pageSize=25`;
  const keys: BenchAccount[] = [];
  for (let i = 0; i < PAGING_CLIENTS; i++) keys.push(await createKey(client, account));
  const pagesOf = async (key: BenchAccount, pages: number) => {
    for (let i = 0; i < pages; i++) await service.read(path, key);
  };
  // reads the keys from the database, and caches them
  await Promise.all(keys.map((key) => pagesOf(key, 1)));
  await sleep(1000);
  const logged = service.log().length;
  const start = performance.now();
  await Promise.all(keys.map((key) => pagesOf(key, PAGES_PER_CLIENT)));
  const seconds = (performance.now() - start) / 1000;

  const pages = PAGING_CLIENTS * PAGES_PER_CLIENT;
  const requests = service
    .log()
    .slice(logged)
    .split('\n')
    .filter((line) => line.startsWith('{"event":"request"'))
    .map((line) => JSON.parse(line) as { sqlRequests: number; keyCache: string | null });
  const perPage = (numberOf: (request: (typeof requests)[number]) => number) =>
    requests.reduce((total, request) => total + numberOf(request), 0) / requests.length;
  return [
    { name: `pages of 25, ${PAGING_CLIENTS} clients`, value: pages / seconds, unit: 'pages/s' },
    {
      name: 'the same, database',
      value: perPage(({ sqlRequests }) => sqlRequests),
      unit: 'requests per page',
    },
    {
      name: 'the same, keys found in KV',
      value: perPage(({ keyCache }) => Number(keyCache === 'hit')),
      unit: 'per page',
    },
  ];
}
