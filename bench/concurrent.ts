import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type BenchAccount, type BenchSurvey, createKey } from './data.ts';
import type { Figure, Measurement } from './report.ts';
import { startService } from './service.ts';

const CLIENTS = 10;
/** Every other client waits this long after each chunk of 64 KiB, so it takes about 3 MB/s. */
const SLOW_MS = 20;

/** Measures ten concurrent exports, each with its own key, half of them read slowly, until the fast ones have ended. */
export async function measureConcurrent(
  databaseUrl: string,
  client: pg.Client,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  await using service = await startService(databaseUrl);
  const path = `/responses/csv?survey=${survey.name}`;
  const bytesPerSecond = async () => {
    const { bytes, seconds } = await service.read(path, account);
    return bytes / seconds;
  };
  await bytesPerSecond(); // warms up
  const keys: BenchAccount[] = [];
  for (let i = 0; i < CLIENTS; i++) keys.push(await createKey(client, account));

  const together = async () => {
    let bytes = 0;
    const start = performance.now();
    const responses = await Promise.all(keys.map(({ key }) => service.open(path, key)));
    const read = async (response: (typeof responses)[number], pauseMs: number) => {
      for await (const chunk of response) {
        bytes += (chunk as Buffer).length;
        if (pauseMs > 0) await sleep(pauseMs);
      }
    };
    const slow = responses.filter((_, i) => i % 2 === 1).map((response) => read(response, SLOW_MS).catch(() => {}));
    await Promise.all(responses.filter((_, i) => i % 2 === 0).map((response) => read(response, 0)));
    const rate = bytes / ((performance.now() - start) / 1000);
    for (const response of responses) response.destroy();
    await Promise.all(slow);
    return rate;
  };

  const alone: number[] = [];
  const all: number[] = [];
  for (let i = 0; i < runs; i++) {
    alone.push(await bytesPerSecond());
    all.push(await together());
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
    measurements: [{ name: `${CLIENTS} exports at a time`, value: bestOfAll / 2 ** 20, unit: 'MiB/s' }],
  };
}
