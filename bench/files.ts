import type { BenchAccount, BenchSurvey } from './data.ts';
import { memoryOf, resetPeak, treeCpu } from './process-stats.ts';
import type { Figure, Measurement } from './report.ts';
import { startService } from './service.ts';

const KEYS = ['form', 'startTime', 'platform', 'pageid', 'seed'].map((key) => `&metadata=${key}`).join('');
const WIDE = '/responses/csv?layout=wide';

/** The files besides the long CSV, and the least number of responses per CPU-second of workerd. */
const FILES: readonly (readonly [name: string, path: string, atLeast?: number])[] = [
  ['NDJSON', '/responses/ndjson?'],
  ['Excel', '/responses/xlsx?', 125_000],
  ['Excel, wide', '/responses/xlsx?layout=wide', 125_000],
  ['wide', WIDE, 500_000],
  ['wide, five metadata keys', `${WIDE}${KEYS}`, 500_000],
  ['wide, every option', `${WIDE}&value=translated&repeats=first&columns=question&require_metadata=platform`, 500_000],
];

/**
 * Measures files of a survey, each in a new workerd. The bound of memory applies to its first export, because a process keeps
 * garbage of earlier exports until it needs room.
 *
 * @param runs number of exports; the one with the least CPU time counts
 */
export async function measureFiles(
  databaseUrl: string,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  const figures: Figure[] = [];
  const measurements: Measurement[] = [];
  const sizes = new Map<string, number>();
  for (const [name, path, atLeast] of FILES) {
    await using service = await startService(databaseUrl);
    const { workerd } = service;
    const idle = memoryOf(workerd).now;
    const peaks: number[] = [];
    let [seconds, cpuSeconds, bytes] = [Infinity, Infinity, 0];
    for (let i = 0; i < runs; i++) {
      resetPeak(workerd);
      const cpu = treeCpu(workerd);
      const run = await service.read(`${path}&survey=${survey.name}`, account);
      cpuSeconds = Math.min(cpuSeconds, treeCpu(workerd) - cpu);
      seconds = Math.min(seconds, run.seconds);
      peaks.push(memoryOf(workerd).peak - idle);
      ({ bytes } = run);
    }
    sizes.set(name, bytes);
    const perCpuSecond = survey.rows / cpuSeconds;
    measurements.push(
      { name, value: survey.rows / seconds, unit: 'responses/s' },
      { name: `${name}, size`, value: bytes / 2 ** 20, unit: 'MiB' },
      { name: `${name}, peak memory above idle of ${runs} exports`, value: Math.max(...peaks), unit: 'MiB' },
    );
    if (atLeast)
      figures.push({
        name: `${name}, workerd`,
        value: perCpuSecond,
        bound: { atLeast },
        unit: 'responses per CPU-second',
      });
    else measurements.push({ name: `${name}, workerd`, value: perCpuSecond, unit: 'responses per CPU-second' });
    figures.push({
      name: `peak memory above idle, ${name}`,
      value: peaks[0] ?? NaN,
      bound: { atMost: 100 },
      unit: 'MiB',
    });
  }
  await using service = await startService(databaseUrl);
  const path = `/responses/csv?survey=${survey.name}`;
  const { bytes: gzipped } = await service.read(path, account, 'end', { 'Accept-Encoding': 'gzip' });
  const size = (sizes.get('Excel') as number) / gzipped;
  figures.push({ name: 'size, Excel ÷ CSV under gzip', value: size, bound: { atMost: 1.4 } });
  return { figures, measurements };
}
