// npm run bench: compares the service with its peers, in one run on one machine.
import { appendFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { runCommand } from '../tools/command.ts';
import { CSV_COLUMNS, JSON_COLUMNS } from '../src/responses/columns.ts';
import { encodeCursor } from '../src/responses/cursor.ts';
import { measureAggregates } from './aggregates.ts';
import { measureFeatures } from './bare.ts';
import { measureGzip } from './compression.ts';
import { measureConcurrent, measurePaging } from './concurrent.ts';
import {
  type BenchAccount,
  type BenchSurvey,
  createAccount,
  createKey,
  createSurvey,
} from './data.ts';
import { parseRows, startDatabase } from './database.ts';
import { measureEncoders } from './encoder.ts';
import { measureFiles } from './files.ts';
import { cannedPage, keyFromEnd, pageMs, responseMs } from './pages.ts';
import { type Run, copyExport, streamExport } from './peers.ts';
import { memoryOf, resetPeak, treeCpu } from './process-stats.ts';
import { measureNeighbours } from './neighbours.ts';
import { type Figure, type Measurement, tables } from './report.ts';
import { type BenchService, startService } from './service.ts';
import { median, percentile } from './statistics.ts';

const LATENCY_MS = 50;
/** A database on another continent. */
const FAR_MS = 150;
const PAGE_ROWS = 6000;
/**
 * Each export is measured this many times. The fastest run counts, because noise only makes a run
 * slower.
 */
const RUNS = 3;
/**
 * The service costs little more than its engine, and on a shared machine the CPU time of equal runs
 * varies by 40 %.
 */
const TURNS = 150;

const log = (text: string) =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

const program = new Command('npm run bench --')
  .description('Compares the service with COPY and with pg-query-stream + csv-stringify.')
  .option('--rows <n>', 'responses in the large survey', parseRows, 1_000_000)
  .option('--json <file>', 'file to write the figures to', 'bench-results.json');

await runCommand(async () => {
  const { rows, json } = program.parse().opts<{ rows: number; json: string }>();
  await appendFile(json, ''); // fails now rather than at the end
  log('starting Postgres');
  await using server = await startDatabase();
  const { url, client } = server;

  log(`creating ${rows.toLocaleString('en')} responses, and smaller surveys`);
  const account = await createAccount(client);
  const create = (name: string, size: number, forms: number) =>
    createSurvey(client, account, { name, rows: size, forms });
  const tenth = Math.ceil(rows / 10);
  const large = await create('large', rows, 20);
  const small = await create('small', 1000, 20);
  const [one, twenty, hundred] = [
    await create('one', tenth, 1),
    await create('twenty', tenth, 20),
    await create('hundred', tenth, 100),
  ];
  const withChoices = await createSurvey(client, account, {
    name: 'choices',
    rows,
    forms: 20,
    choices: true,
  });
  const republisher = await createAccount(client, 'republisher@example.org');
  const republish = (name: string, forms: number) =>
    createSurvey(client, republisher, { name, rows: tenth, forms, consecutive: true });
  const [unchanged, republished] = [
    await republish('unchanged', 1),
    await republish('republished', 1000),
  ];
  await client.query('vacuum analyze');

  const figures: Figure[] = [];
  const measurements: Measurement[] = [];
  const measured = (name: string, value: number, unit: string) =>
    measurements.push({ name, value, unit });
  using atEnd = new DisposableStack(); // also if a later part fails
  atEnd.defer(() => void process.stdout.write(`\n${tables(figures, measurements)}`));

  log('encoders');
  const encoders = await measureEncoders(
    await cannedPage(client, large, PAGE_ROWS, CSV_COLUMNS),
    await cannedPage(client, large, PAGE_ROWS, JSON_COLUMNS),
  );
  measured('encoder in workerd, streamed', encoders.transcoded, 'rows per CPU-second');
  measured('driver rows in workerd, streamed', encoders.driverRows, 'rows per CPU-second');
  measured('JSON encoder in workerd, streamed', encoders.objects, 'rows per CPU-second');
  measured(
    'driver rows as JSON in workerd, streamed',
    encoders.driverObjects,
    'rows per CPU-second',
  );
  measured('encoder in workerd, output discarded', encoders.discarded, 'rows per CPU-second');
  measured('csv-stringify on Node, output discarded', encoders.csvStringify, 'rows per CPU-second');
  figures.push(
    {
      name: 'encoder ÷ driver rows',
      value: encoders.transcoded / encoders.driverRows,
      bound: { atLeast: 2.5 },
    },
    {
      name: 'JSON encoder ÷ driver rows',
      value: encoders.objects / encoders.driverObjects,
      bound: { atLeast: 2 },
    },
    {
      name: 'encoder ÷ csv-stringify',
      value: encoders.discarded / encoders.csvStringify,
      bound: { atLeast: 8 },
    },
  );

  // Each in a new workerd, because a process keeps the memory of earlier exports.
  log('memory');
  const firstPeak = async (survey: BenchSurvey) => {
    const peaks: number[] = [];
    for (let i = 0; i < RUNS; i++) {
      await using service = await startService(url);
      peaks.push(
        await peakOf(service, () => service.read(`/responses/csv?survey=${survey.name}`, account)),
      );
    }
    return median(peaks);
  };
  const [largePeak, tenthPeak] = [await firstPeak(large), await firstPeak(twenty)];
  measured('workerd, peak of first export, large', largePeak, 'MiB');
  measured('workerd, peak of first export, a tenth of that', tenthPeak, 'MiB');

  {
    log('the service, COPY, and pg-query-stream + csv-stringify');
    await using service = await startService(url);
    const exported = (survey: BenchSurvey) =>
      service.read(`/responses/csv?survey=${survey.name}`, account);
    const idle = memoryOf(service.workerd).now; // before its first request
    let workerdCpu = Infinity;
    const peaks: number[] = [];
    const measuredExport = async () => {
      const cpu = treeCpu(service.workerd);
      let run: Run | undefined;
      peaks.push(await peakOf(service, async () => (run = await exported(large))));
      workerdCpu = Math.min(workerdCpu, treeCpu(service.workerd) - cpu);
      return run as Run;
    };
    const [whole, copy, stream] = await bestOf(
      [measuredExport, () => copyExport(client, large), () => streamExport(client, large)],
      server.pid,
    );
    if (whole.bytes !== copy.bytes)
      throw new Error(`the export has ${whole.bytes} bytes, but COPY has ${copy.bytes}`);
    measured('COPY', rows / copy.seconds, 'rows/s');
    measured('COPY, Postgres', copy.databaseCpu, 'CPU-seconds');
    measured('pg-query-stream + csv-stringify', rows / stream.seconds, 'rows/s');
    measured(
      'pg-query-stream + csv-stringify on Node',
      rows / stream.cpuSeconds,
      'rows per CPU-second',
    );
    measured('the service', rows / whole.seconds, 'rows/s');
    measured('the service, workerd', workerdCpu, 'CPU-seconds');
    measured('the service, Postgres', whole.databaseCpu, 'CPU-seconds');
    measured('workerd idle', idle, 'MiB');
    measured('workerd, peak of all exports', Math.max(...peaks), 'MiB');
    figures.push(
      { name: 'end to end ÷ COPY', value: copy.seconds / whole.seconds, bound: { atLeast: 0.5 } },
      {
        name: 'end to end ÷ pg-query-stream',
        value: stream.seconds / whole.seconds,
        bound: { atLeast: 1.5 },
      },
      {
        name: 'database CPU ÷ COPY',
        value: whole.databaseCpu / copy.databaseCpu,
        bound: { atMost: 1.5 },
      },
      {
        name: 'peak memory, large ÷ a tenth',
        value: largePeak / tenthPeak,
        bound: { atMost: 1.15 },
      },
      {
        name: 'peak memory above idle',
        value: Math.max(...peaks) - idle,
        bound: { atMost: 60 },
        unit: 'MiB',
      },
    );

    log('pages in the database');
    const nearEnd = await keyFromEnd(client, large, PAGE_ROWS);
    const { first, later } = await pageMs(client, large, PAGE_ROWS, nearEnd);
    measured(`page of ${PAGE_ROWS}, first`, first, 'ms in Postgres');
    measured(`page of ${PAGE_ROWS}, last`, later, 'ms in Postgres');
    figures.push({ name: 'last page ÷ first page', value: later / first, bound: { atMost: 1.3 } });

    log('form versions');
    const [oneForm, twentyForms, hundredForms] = await bestOf(
      [() => exported(one), () => exported(twenty), () => exported(hundred)],
      server.pid,
    );
    for (const [forms, { seconds }] of [
      [1, oneForm],
      [20, twentyForms],
      [100, hundredForms],
    ] as const)
      measured(`export of ${tenth} rows, ${forms} form versions`, tenth / seconds, 'rows/s');
    figures.push({
      name: '100 form versions ÷ 1, seconds',
      value: hundredForms.seconds / oneForm.seconds,
      bound: { atMost: 2 },
    });

    log('a thousand form versions');
    const pages = [unchanged, republished].map(
      ({ name }) => `/responses?survey=${name}&pageSize=25`,
    );
    const [pageOfOne = NaN, pageOfThousand = NaN] = await responseMs(service, republisher, pages);
    const republisherExport = ({ name }: BenchSurvey) =>
      service.read(`/responses/csv?survey=${name}`, republisher);
    const [exportOfOne, exportOfThousand] = await bestOf(
      [() => republisherExport(unchanged), () => republisherExport(republished)],
      server.pid,
    );
    measured('page of 25, 1000 form versions, p50', pageOfThousand, 'ms');
    measured(
      `export of ${tenth} rows, 1000 form versions`,
      tenth / exportOfThousand.seconds,
      'rows/s',
    );
    figures.push(
      {
        name: 'page of 25, 1000 form versions ÷ 1',
        value: pageOfThousand / pageOfOne,
        bound: { atMost: 3 },
      },
      {
        name: 'export, 1000 form versions ÷ 1, seconds',
        value: exportOfThousand.seconds / exportOfOne.seconds,
        bound: { atMost: 1.5 },
      },
    );

    log('time to first byte');
    const firstByte = async (survey: BenchSurvey) => {
      const times: number[] = [];
      for (let i = 0; i < 9; i++) {
        times.push(1000 * (await firstByteOf(service, account, survey)));
        await sleep(200); // lets the previous request be cancelled
      }
      return median(times);
    };
    const [ofLarge, ofSmall] = [await firstByte(large), await firstByte(small)];
    measured('time to first byte, large', ofLarge, 'ms');
    measured('time to first byte, 1000 rows', ofSmall, 'ms');
    figures.push({
      name: 'time to first byte, large ÷ 1000 rows',
      value: ofLarge / ofSmall,
      bound: { atMost: 1.5 },
    });

    log('pages of JSON');
    for (const pageSize of [25, 5000]) {
      const last = encodeCursor(await keyFromEnd(client, large, pageSize));
      for (const [which, after] of [
        ['first', ''],
        ['last', `&after=${last}`],
      ] as const) {
        const path = `/responses?survey=large&pageSize=${pageSize}${after}`;
        const times: number[] = [];
        for (let i = 0; i < 100; i++)
          times.push(1000 * (await service.read(path, account)).seconds);
        measured(`/responses, ${which} page of ${pageSize}, p50`, median(times), 'ms');
        measured(`/responses, ${which} page of ${pageSize}, p99`, percentile(times, 0.99), 'ms');
      }
    }
  }

  log('the service, with a delay added to every SQL request');
  {
    await using service = await startService(url);
    const idle = memoryOf(service.workerd).now;
    const seconds = new Map<number, number>();
    for (let run = 0; run < RUNS; run++) {
      for (const delay of [FAR_MS, LATENCY_MS, 0]) {
        service.delay(delay);
        const exported = await service.read(`/responses/csv?survey=${large.name}`, account);
        seconds.set(delay, Math.min(seconds.get(delay) ?? Infinity, exported.seconds));
        if (run > 0 || delay !== FAR_MS) continue;
        const value = memoryOf(service.workerd).peak - idle;
        figures.push({
          name: `first export, ${FAR_MS} ms a request: above idle`,
          value,
          bound: { atMost: 80 },
          unit: 'MiB',
        });
      }
    }
    const near = seconds.get(0) ?? NaN;
    for (const [delay, atLeast] of [
      [LATENCY_MS, 0.85],
      [FAR_MS, 0.6],
    ] as const) {
      const delayed = seconds.get(delay) ?? NaN;
      measured(`the service, ${delay} ms a request`, rows / delayed, 'rows/s');
      figures.push({
        name: `with ${delay} ms ÷ without`,
        value: near / delayed,
        bound: { atLeast },
      });
    }

    service.delay(LATENCY_MS);
    const ofTwenty = ['?pageSize=25&', '/csv?', '/ndjson?'].map(
      (path) => `/responses${path}survey=twenty`,
    );
    const delays = await responseMs(service, account, ['/surveys', ...ofTwenty]);
    const [oneRequest = NaN, page = NaN, csv = NaN, ndjson = NaN] = delays;
    measured(`/surveys, ${LATENCY_MS} ms a request, p50`, oneRequest, 'ms');
    figures.push(
      {
        name: `page of 25, ${LATENCY_MS} ms a request ÷ one request`,
        value: page / oneRequest,
        bound: { atMost: 1.4 },
      },
      { name: 'first byte of CSV ÷ one request', value: csv / oneRequest, bound: { atMost: 1.6 } },
      {
        name: 'first byte of NDJSON ÷ one request',
        value: ndjson / oneRequest,
        bound: { atMost: 1.6 },
      },
    );
  }

  log('the service, alternating with its engine alone');
  const features = await measureFeatures(url, twenty, account, TURNS);
  figures.push(...features.figures);
  measurements.push(...features.measurements);

  log('other accounts');
  const neighbours = await measureNeighbours(url, client, large, account);
  figures.push(...neighbours.figures);
  measurements.push(...neighbours.measurements);

  log('concurrent exports');
  const concurrent = await measureConcurrent(url, client, large, account, RUNS);
  figures.push(...concurrent.figures);
  measurements.push(...concurrent.measurements);
  measurements.push(...(await measurePaging(url, client, twenty, account)));

  log('other files');
  const files = await measureFiles(url, large, account, RUNS, encoders.csvStringify);
  figures.push(...files.figures);
  measurements.push(...files.measurements);

  log('gzip');
  const gzip = await measureGzip(url, large, account, RUNS);
  figures.push(...gzip.figures);
  measurements.push(...gzip.measurements);

  log('codebook, answers and summary');
  const aggregates = await measureAggregates(url, client, large, account, RUNS);
  figures.push(...aggregates.figures);
  measurements.push(...aggregates.measurements);

  {
    log('digests, labels and limited keys');
    await using service = await startService(url);
    const read = (path: string, { name }: BenchSurvey, by = account) =>
      service.read(`${path}survey=${name}`, by);
    const long = '/responses/csv?';
    const wide = '/responses/csv?layout=wide&';
    const withPseudonyms = await createKey(client, account, { v: 1, secret: '07'.repeat(32) });
    const withoutPageIds = await createKey(client, account, { v: 1, pageid: false });
    const [
      digests,
      copy,
      labels,
      responses,
      all,
      pseudonyms,
      pageIds,
      ofParticipants,
      widePseudonyms,
    ] = await bestOf(
      [
        () => read('/responses/digests?', large),
        () => copyExport(client, large),
        () => read(`${wide}value=label&`, withChoices),
        () => read(wide, withChoices),
        () => read(long, large),
        () => read(long, large, withPseudonyms),
        () => read(long, large, withoutPageIds),
        () => read(wide, large),
        () => read(wide, large, withPseudonyms),
      ],
      server.pid,
    );
    measured('digests by day', digests.seconds, 's');
    measured('digests by day, Postgres', digests.databaseCpu, 'CPU-seconds');
    measured('wide, half of the answers as labels', rows / labels.seconds, 'responses/s');
    for (const [which, by] of [
      ['any key', account],
      ['a key with pseudonyms', withPseudonyms],
    ] as const) {
      const times: number[] = [];
      for (let i = 0; i < 100; i++)
        times.push(1000 * (await read('/responses?pageSize=25&', large, by)).seconds);
      measured(`/responses, first page of 25, ${which}, p99`, percentile(times, 0.99), 'ms');
    }
    measured(
      'wide, pseudonyms ÷ without, database CPU',
      widePseudonyms.databaseCpu / ofParticipants.databaseCpu,
      '×',
    );
    measured('wide, pseudonyms', rows / widePseudonyms.seconds, 'responses/s');
    measured(
      'long CSV without page ids ÷ with, database CPU',
      pageIds.databaseCpu / all.databaseCpu,
      '×',
    );
    figures.push(
      {
        name: 'long CSV, pseudonyms ÷ without, database CPU',
        value: pseudonyms.databaseCpu / all.databaseCpu,
        bound: { atMost: 2.5 },
      },
      {
        name: 'digests ÷ COPY, database CPU',
        value: digests.databaseCpu / copy.databaseCpu,
        bound: { atMost: 1.5 },
      },
      {
        name: 'wide, labels ÷ responses, seconds',
        value: labels.seconds / responses.seconds,
        bound: { atMost: 1.15 },
      },
      {
        name: 'wide, labels ÷ responses, database CPU',
        value: labels.databaseCpu / responses.databaseCpu,
        bound: { atMost: 1.25 },
      },
    );
  }

  await writeFile(
    json,
    `${JSON.stringify({ rows, node: process.version, figures, measurements }, null, 2)}\n`,
  );
  log(`wrote ${json}`);
});

type BestRun = Run & { readonly databaseCpu: number };

/**
 * The fastest of several runs of each export, which take turns, and the least CPU time that
 * Postgres used in any of them.
 */
async function bestOf<const T extends readonly (() => Promise<Run>)[]>(
  exports: T,
  postgres: number,
): Promise<{ [I in keyof T]: BestRun }> {
  const bestRuns = exports.map((): BestRun | undefined => undefined);
  for (let i = 0; i < RUNS; i++) {
    for (const [which, run] of exports.entries()) {
      const cpu = treeCpu(postgres);
      const result = await run();
      const databaseCpu = treeCpu(postgres) - cpu;
      const best = bestRuns[which];
      const fastest = best && best.seconds < result.seconds ? best : result;
      bestRuns[which] = {
        ...fastest,
        databaseCpu: Math.min(databaseCpu, best?.databaseCpu ?? Infinity),
      };
    }
  }
  return bestRuns as { [I in keyof T]: BestRun };
}

async function peakOf(service: BenchService, work: () => Promise<unknown>): Promise<number> {
  resetPeak(service.workerd);
  await work();
  return memoryOf(service.workerd).peak;
}

async function firstByteOf(
  service: BenchService,
  account: BenchAccount,
  survey: BenchSurvey,
): Promise<number> {
  return (await service.read(`/responses/csv?survey=${survey.name}`, account, 'first byte'))
    .firstByteSeconds;
}
