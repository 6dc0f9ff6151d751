import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  type BenchAccount,
  type BenchSurvey,
  createAccount,
  createKey,
  createSurvey,
} from './data.ts';
import { memoryOf, resetPeak } from './process-stats.ts';
import type { Figure, Measurement } from './report.ts';
import { type BenchService, startService } from './service.ts';
import { percentile } from './statistics.ts';

const PAGES = 400;
const COUNTS = 10;
const EXPORTS = 20;
const STALLED_KEYS = 25;
const STALLED_PER_KEY = 4;

/**
 * Measures what the load of one account does to small pages of another, and the memory that clients
 * hold who stop reading.
 */
export async function measureNeighbours(
  databaseUrl: string,
  client: pg.Client,
  survey: BenchSurvey,
  account: BenchAccount,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  const neighbour = await createAccount(client, 'neighbour@example.org');
  await createSurvey(client, neighbour, { name: 'small', rows: 1000, forms: 2 });
  await client.query('analyze');
  await using service = await startService(databaseUrl);
  const p99 = () => pageP99(service, neighbour);

  await p99(); // warms up
  const idle = await p99();
  const duringCounts = await during(COUNTS, () => counted(service, survey, account), p99);
  const duringExports = await during(EXPORTS, () => exported(service, survey, account), p99);
  const stalled = await measureStalled(databaseUrl, client, survey, account, neighbour);
  return {
    figures: [
      {
        name: `page p99 of another account, ${COUNTS} counts ÷ idle`,
        value: duringCounts / idle,
        bound: { atMost: 6 },
      },
      {
        name: `the same, ${EXPORTS} exports ÷ idle`,
        value: duringExports / idle,
        bound: { atMost: 6 },
      },
      {
        name: `peak memory above idle, ${STALLED_KEYS * STALLED_PER_KEY} clients that stop reading`,
        value: stalled.memory,
        bound: { atMost: 128 },
        unit: 'MiB',
      },
    ],
    measurements: [
      { name: 'page of 25 of another account, idle, p99', value: idle, unit: 'ms' },
      { name: `the same during ${COUNTS} counts`, value: duringCounts, unit: 'ms' },
      { name: `the same during ${EXPORTS} exports`, value: duringExports, unit: 'ms' },
      {
        name: `the same while ${stalled.running} clients have stopped reading`,
        value: stalled.p99,
        unit: 'ms',
      },
    ],
  };
}

async function pageP99(service: BenchService, account: BenchAccount): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < PAGES; i++) {
    times.push(1000 * (await service.read('/responses?survey=small', account)).seconds);
    await sleep(5);
  }
  return percentile(times, 0.99);
}

/**
 * Runs `measure` while clients repeat a request. One that is refused is sent again after half a
 * second.
 */
async function during<T>(
  clients: number,
  request: () => Promise<unknown>,
  measure: () => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const repeat = async () => {
    while (!ending.signal.aborted) {
      await request().catch(async (error: Error) => {
        if (!/status (?:429|503)/.test(error.message)) throw error;
        await sleep(500);
      });
    }
  };
  const running = Promise.all(Array.from({ length: clients }, repeat));
  try {
    await sleep(1000);
    return await Promise.race([
      measure(),
      running.then(() => Promise.reject(new Error('the load has ended'))),
    ]);
  } finally {
    ending.abort();
    await running;
  }
}

const counted = (service: BenchService, { name }: BenchSurvey, account: BenchAccount) =>
  service.read(`/responses?survey=${name}&pageSize=1&count=true`, account);

const exported = (service: BenchService, { name }: BenchSurvey, account: BenchAccount) =>
  service.read(`/responses/csv?survey=${name}`, account);

/** Several clients with each of several keys open an export and read nothing. */
async function measureStalled(
  databaseUrl: string,
  client: pg.Client,
  survey: BenchSurvey,
  account: BenchAccount,
  neighbour: BenchAccount,
): Promise<{ memory: number; p99: number; running: number }> {
  await using service = await startService(databaseUrl);
  await pageP99(service, neighbour);
  const idle = memoryOf(service.workerd).now;
  resetPeak(service.workerd);
  const keys: string[] = [];
  for (let i = 0; i < STALLED_KEYS; i++) keys.push((await createKey(client, account)).key);
  const all = Array.from({ length: STALLED_PER_KEY }, () => keys).flat();
  const clients = await Promise.all(
    all.map((key) => service.open(`/responses/csv?survey=${survey.name}`, key)),
  );
  const p99 = await pageP99(service, neighbour);
  const running = clients.filter(({ statusCode }) => statusCode === 200).length;
  for (const response of clients) response.destroy();
  return { memory: memoryOf(service.workerd).peak - idle, p99, running };
}
