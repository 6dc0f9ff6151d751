import type { BenchAccount, BenchSurvey } from './data.ts';
import { memoryOf, resetPeak, treeCpu } from './process-stats.ts';
import type { Figure, Measurement } from './report.ts';
import { startService } from './service.ts';

interface Best {
  seconds: number;
  cpuSeconds: number;
  bytes: number;
}

/**
 * Compares exports with and without gzip, in alternating runs in a new workerd. The fastest run of
 * each counts.
 *
 * @param runs number of runs of each
 */
export async function measureGzip(
  databaseUrl: string,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  await using service = await startService(databaseUrl);
  const { workerd } = service;
  const idle = memoryOf(workerd).now;
  let peak = 0;
  const best = {
    identity: { seconds: Infinity, cpuSeconds: Infinity, bytes: 0 },
    gzip: { seconds: Infinity, cpuSeconds: Infinity, bytes: 0 },
  };
  for (let i = 0; i < runs; i++) {
    for (const coding of ['gzip', 'identity'] as const) {
      resetPeak(workerd);
      const cpu = treeCpu(workerd);
      const headers = { 'Accept-Encoding': coding };
      const run = await service.read(
        `/responses/csv?survey=${survey.name}`,
        account,
        'end',
        headers,
      );
      keepBest(best[coding], { ...run, cpuSeconds: treeCpu(workerd) - cpu });
      if (coding === 'gzip') peak = Math.max(peak, memoryOf(workerd).peak);
    }
  }

  const { identity, gzip } = best;
  const mib = identity.bytes / 1024 / 1024;
  const more = gzip.cpuSeconds - identity.cpuSeconds;
  return {
    figures: [
      { name: 'size, identity ÷ gzip', value: identity.bytes / gzip.bytes, bound: { atLeast: 4 } },
      {
        name: 'rows/s, gzip ÷ identity',
        value: identity.seconds / gzip.seconds,
        bound: { atLeast: 0.4 },
      },
      {
        name: 'peak memory above idle, gzip',
        value: peak - idle,
        bound: { atMost: 100 },
        unit: 'MiB',
      },
    ],
    measurements: [
      { name: 'gzip', value: survey.rows / gzip.seconds, unit: 'rows/s' },
      { name: 'gzip, workerd', value: gzip.cpuSeconds, unit: 'CPU-seconds' },
      { name: 'gzip, additional CPU', value: (1000 * more) / mib, unit: 'ms per MiB' },
      {
        name: 'gzip, additional CPU',
        value: (1e6 * more) / survey.rows,
        unit: 's per million rows',
      },
    ],
  };
}

function keepBest(best: Best, run: Best): void {
  best.seconds = Math.min(best.seconds, run.seconds);
  best.cpuSeconds = Math.min(best.cpuSeconds, run.cpuSeconds);
  best.bytes = run.bytes;
}
