// npm run bench:size: compares the export of ten million responses with that of one million.
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { runCommand } from '../tools/command.ts';
import { type BenchAccount, type BenchSurvey, createAccount, createSurvey } from './data.ts';
import { parseRows, startDatabase } from './database.ts';
import { memoryOf, resetPeak } from './process-stats.ts';
import { type Figure, type Measurement, tables } from './report.ts';
import { type BenchService, startService } from './service.ts';
import { median } from './statistics.ts';

/** Exports of the smaller survey, before and after the one of the larger. */
const RUNS = 2;
/** Exports of the smaller survey by one workerd, and after which of them its memory is reported. */
const EXPORTS = 60;
const REPORTED = new Set([1, 5, 10, 20, 40, 60]);
/** About that of a page of the long CSV. */
const PAGE_BYTES = 4 * 1024 * 1024;

const program = new Command('npm run bench:size --')
  .description(
    'Compares the export of a large survey with that of one a tenth the size. Needs 12 GB of disk by default.',
  )
  .option('--rows <n>', 'responses in the large survey', parseRows, 10_000_000)
  .option('--json <file>', 'file to write the figures to', 'bench-size-results.json');

await runCommand(async () => {
  const { rows, json } = program.parse().opts<{ rows: number; json: string }>();
  await appendFile(json, ''); // fails now rather than at the end
  const log = (text: string) =>
    process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
  await using server = await startDatabase();
  const { url, client } = server;
  const account = await createAccount(client);
  const create = (name: string, size: number) => {
    log(`creating ${size.toLocaleString('en')} responses`);
    return createSurvey(client, account, { name, rows: size, forms: 20 });
  };
  const tenth = await create('tenth', Math.ceil(rows / 10));
  const large = await create('large', rows);
  await client.query('vacuum analyze');

  /** In a new workerd, because a process keeps the memory of earlier exports. */
  const exported = async (survey: BenchSurvey) => {
    log(`exporting ${survey.name}`);
    await using service = await startService(url);
    const run = await withMemory(service, `/responses/csv?survey=${survey.name}`, account);
    const [, requests = '0'] = /"sqlRequests":(\d+)/.exec(service.log()) ?? [];
    return { ...run, requests: Number(requests), rate: survey.rows / run.seconds };
  };
  const tenths: Awaited<ReturnType<typeof exported>>[] = [];
  for (let i = 0; i < RUNS; i++) tenths.push(await exported(tenth));
  const whole = await exported(large);
  for (let i = 0; i < RUNS; i++) tenths.push(await exported(tenth));
  const ofTenths = (value: (run: (typeof tenths)[number]) => number) => median(tenths.map(value));
  const rate = ofTenths((one) => one.rate);

  await using pages = await servePage();
  /** As many pages as an export requested, by a Worker that only fetches and streams them. */
  const streamed = async (count: number) => {
    log(`streaming ${count} pages`);
    await using service = await startService(url, { entry: 'bench/runtime-worker.ts' });
    return await withMemory(service, `/?pages=${count}&from=${pages.url}`, account);
  };
  const streamedTenth = await streamed(Math.round(ofTenths((one) => one.requests)));
  const streamedLarge = await streamed(whole.requests);

  log(`exporting ${tenth.name} ${EXPORTS} times`);
  const repeated: Measurement[] = [];
  {
    await using service = await startService(url);
    const idle = memoryOf(service.workerd).now;
    for (let i = 1; i <= EXPORTS; i++) {
      const { peak } = await withMemory(service, `/responses/csv?survey=${tenth.name}`, account);
      if (REPORTED.has(i))
        repeated.push({
          name: `a tenth, peak memory above idle, export ${i}`,
          value: peak - idle,
          unit: 'MiB',
        });
    }
  }

  const figures: Figure[] = [
    { name: 'rows/s, large ÷ a tenth', value: whole.rate / rate, bound: { atLeast: 0.9 } },
    {
      name: 'peak memory, large ÷ a tenth',
      value: whole.peak / ofTenths((one) => one.peak),
      bound: { atMost: 1.15 },
    },
  ];
  const measurements: Measurement[] = [
    { name: 'large, requests to the database', value: whole.requests, unit: 'requests' },
    { name: 'large', value: whole.rate, unit: 'rows/s' },
    { name: 'a tenth', value: rate, unit: 'rows/s' },
    { name: 'large, peak memory above idle', value: whole.aboveIdle, unit: 'MiB' },
    {
      name: 'a tenth, peak memory above idle',
      value: ofTenths((one) => one.aboveIdle),
      unit: 'MiB',
    },
    {
      name: 'the same pages only streamed, large ÷ a tenth',
      value: streamedLarge.peak / streamedTenth.peak,
      unit: '×',
    },
    {
      name: 'the same pages only streamed, large, peak memory above idle',
      value: streamedLarge.aboveIdle,
      unit: 'MiB',
    },
    { name: 'the same, a tenth', value: streamedTenth.aboveIdle, unit: 'MiB' },
    ...repeated,
  ];
  process.stdout.write(`\n${tables(figures, measurements)}`);
  await writeFile(
    json,
    `${JSON.stringify({ rows, node: process.version, figures, measurements }, null, 2)}\n`,
  );
});

async function withMemory(service: BenchService, path: string, account: BenchAccount) {
  const idle = memoryOf(service.workerd).now;
  resetPeak(service.workerd);
  const { seconds } = await service.read(path, account);
  const { peak } = memoryOf(service.workerd);
  return { seconds, peak, aboveIdle: peak - idle };
}

/** Serves bytes of the size of a page. */
async function servePage(): Promise<AsyncDisposable & { readonly url: string }> {
  const page = Buffer.alloc(PAGE_BYTES, 'x');
  const server = createServer((_, response) => response.end(page)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
