import type { BenchAccount, BenchSurvey } from './data.ts';
import { memoryOf, resetPeak, treeCpu } from './process-stats.ts';
import type { Figure, Measurement } from './report.ts';
import { type BenchService, startService } from './service.ts';
import { median } from './statistics.ts';

const KEYS = ['form', 'startTime', 'platform', 'pageid', 'seed']
  .map((key) => `&metadata=${key}`)
  .join('');
const PAGE_SIZE = 5000;
const PAGES = 40;
const WIDE = '/responses/csv?layout=wide';
const TIMING_AND_ARMS = '&timing=true&arm=seed_2&arm=seed_25_2';

/**
 * The files besides the long CSV. `atLeast`: responses per CPU-second of workerd ÷ rows per
 * CPU-second of csv-stringify.
 */
const FILES: readonly (readonly [name: string, path: string, atLeast?: number])[] = [
  ['NDJSON', '/responses/ndjson?'],
  ['Excel', '/responses/xlsx?', 0.7],
  ['Excel, wide', '/responses/xlsx?layout=wide', 0.7],
  ['wide', WIDE, 2.9],
  ['wide, five metadata keys', `${WIDE}${KEYS}`, 2.9],
  [
    'wide, every option',
    `${WIDE}&value=translated&repeats=first&columns=question&require_metadata=platform`,
    2.9,
  ],
];

/**
 * Measures files of a survey, each in a new workerd. The bound of memory applies to its first
 * export, because a process keeps garbage of earlier exports until it needs room.
 *
 * @param runs number of exports; the one with the least CPU time counts
 * @param csvStringify rows per CPU-second of csv-stringify
 */
export async function measureFiles(
  databaseUrl: string,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
  csvStringify: number,
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
      {
        name: `${name}, peak memory above idle of ${runs} exports`,
        value: Math.max(...peaks),
        unit: 'MiB',
      },
    );
    if (atLeast)
      figures.push({
        name: `${name}, responses per CPU-second ÷ csv-stringify`,
        value: perCpuSecond / csvStringify,
        bound: { atLeast },
      });
    measurements.push({
      name: `${name}, workerd`,
      value: perCpuSecond,
      unit: 'responses per CPU-second',
    });
    figures.push({
      name: `peak memory above idle, ${name}`,
      value: peaks[0] ?? NaN,
      bound: { atMost: 100 },
      unit: 'MiB',
    });
  }
  await using service = await startService(databaseUrl);
  const path = `/responses/csv?survey=${survey.name}`;
  const { bytes: gzipped } = await service.read(path, account, 'end', {
    'Accept-Encoding': 'gzip',
  });
  const size = (sizes.get('Excel') as number) / gzipped;
  figures.push({ name: 'size, Excel ÷ CSV under gzip', value: size, bound: { atMost: 4 } });
  const { csv, ndjson, page, pageOf1, wide, timing } = await cpuPerRow(
    service,
    survey,
    account,
    runs,
  );
  figures.push(
    { name: 'workerd CPU per row, NDJSON ÷ long CSV', value: ndjson / csv, bound: { atMost: 1.5 } },
    {
      name: `workerd CPU per row, JSON page of ${PAGE_SIZE} ÷ NDJSON`,
      value: page / ndjson,
      bound: { atMost: 1.1 },
    },
    {
      name: 'workerd CPU, wide with timing and two arms ÷ wide',
      value: timing / wide,
      bound: { atMost: 1.1 },
    },
  );
  measurements.push(
    {
      name: `JSON page of ${PAGE_SIZE}, workerd`,
      value: 1 / page,
      unit: 'responses per CPU-second',
    },
    { name: 'JSON page of 1, workerd', value: 1000 * pageOf1, unit: 'CPU-milliseconds' },
    {
      name: `a row of a JSON page of ${PAGE_SIZE}, without the request, ÷ a row of NDJSON, workerd CPU`,
      value: (page - pageOf1 / PAGE_SIZE) / ndjson,
      unit: '×',
    },
  );
  return { figures, measurements };
}

/**
 * CPU seconds of workerd per row, of alternating runs in one workerd: medians, after a first run
 * that is not measured.
 */
async function cpuPerRow(
  service: BenchService,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
) {
  const pageOf = (size: number) =>
    [`/responses?pageSize=${size}`, PAGES, PAGES * Math.min(size, survey.rows)] as const;
  const reads = {
    csv: ['/responses/csv?', 1, survey.rows],
    ndjson: ['/responses/ndjson?', 1, survey.rows],
    page: pageOf(PAGE_SIZE),
    pageOf1: pageOf(1),
    wide: [WIDE, 1, survey.rows],
    timing: [WIDE + TIMING_AND_ARMS, 1, survey.rows],
  } as const;
  const kinds = Object.keys(reads) as (keyof typeof reads)[];
  const results = Object.fromEntries(kinds.map((kind) => [kind, [] as number[]])) as Record<
    keyof typeof reads,
    number[]
  >;
  for (let run = 0; run <= 2 * runs; run++) {
    for (const kind of kinds) {
      const [path, times, rows] = reads[kind];
      const start = treeCpu(service.workerd);
      for (let i = 0; i < times; i++) await service.read(`${path}&survey=${survey.name}`, account);
      if (run > 0) results[kind].push((treeCpu(service.workerd) - start) / rows);
    }
  }
  return Object.fromEntries(kinds.map((kind) => [kind, median(results[kind])])) as Record<
    keyof typeof reads,
    number
  >;
}
