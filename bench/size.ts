// npm run bench:size: compares the export of ten million responses with that of one million.
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { runCommand } from '../tools/command.ts';
import { type BenchSurvey, createAccount, createSurvey } from './data.ts';
import { parseRows, startDatabase } from './database.ts';
import { memoryOf, resetPeak } from './process-stats.ts';
import { type Figure, type Measurement, tables } from './report.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

/** Exports of the smaller survey, before and after the one of the larger. */
const RUNS = 2;

const program = new Command('npm run bench:size --')
  .description(
    'Compares the export of a large survey with that of one a tenth the size. Needs 12 GB of disk by default.',
  )
  .option('--rows <n>', 'responses in the large survey', parseRows, 10_000_000)
  .option('--json <file>', 'file to write the figures to', 'bench-size-results.json');

await runCommand(async () => {
  const { rows, json } = program.parse().opts<{ rows: number; json: string }>();
  const log = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
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
  const exported = async (survey: BenchSurvey, size: number) => {
    log(`exporting ${survey.name}`);
    await using service = await startService(url);
    const idle = memoryOf(service.workerd).now;
    resetPeak(service.workerd);
    const { seconds } = await service.read(`/responses/csv?survey=${survey.name}`, account);
    const { peak } = memoryOf(service.workerd);
    return { rate: size / seconds, peak, aboveIdle: peak - idle };
  };
  const tenths = [];
  for (let i = 0; i < RUNS; i++) tenths.push(await exported(tenth, Math.ceil(rows / 10)));
  const whole = await exported(large, rows);
  for (let i = 0; i < RUNS; i++) tenths.push(await exported(tenth, Math.ceil(rows / 10)));
  const rate = median(tenths.map((one) => one.rate));
  const peak = median(tenths.map((one) => one.peak));

  const figures: Figure[] = [
    { name: 'rows/s, large ÷ a tenth', value: whole.rate / rate, bound: { atLeast: 0.9 } },
    { name: 'peak memory, large ÷ a tenth', value: whole.peak / peak, bound: { atMost: 1.15 } },
  ];
  const measurements: Measurement[] = [
    { name: 'large', value: whole.rate, unit: 'rows/s' },
    { name: 'a tenth', value: rate, unit: 'rows/s' },
    { name: 'large, peak memory above idle', value: whole.aboveIdle, unit: 'MiB' },
    { name: 'a tenth, peak memory above idle', value: median(tenths.map((one) => one.aboveIdle)), unit: 'MiB' },
  ];
  process.stdout.write(`\n${tables(figures, measurements)}`);
  await writeFile(json, `${JSON.stringify({ rows, node: process.version, figures, measurements }, null, 2)}\n`);
});
