// node bench/wide.ts: compares the wide layout with the long one on the same responses.
import { Command } from 'commander';
import { runCommand } from '../tools/command.ts';
import { createAccount, createSurvey } from './data.ts';
import { parseRows, startDatabase } from './database.ts';
import { memoryOf, resetPeak, treeCpu } from './process-stats.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

const RUNS = 3;

const program = new Command('node bench/wide.ts')
  .description('Compares layout=wide with layout=long.')
  .option('--rows <n>', 'responses in the survey', parseRows, 1_000_000);

await runCommand(async () => {
  const { rows } = program.parse().opts<{ rows: number }>();
  await using server = await startDatabase();
  const { url, client } = server;
  const account = await createAccount(client);
  for (const [name, size] of [
    ['large', rows],
    ['tenth', Math.ceil(rows / 10)],
  ] as const) {
    await createSurvey(client, account, { name, rows: size, forms: 20 });
  }
  await client.query('vacuum analyze');

  for (const layout of ['long', 'wide']) {
    for (const survey of ['tenth', 'large']) {
      const size = survey === 'large' ? rows : Math.ceil(rows / 10);
      const runs = { seconds: [] as number[], cpu: [] as number[], database: [] as number[], peak: [] as number[] };
      let idle = 0;
      let bytes = 0;
      for (let i = 0; i < RUNS; i++) {
        // A new workerd, because a process keeps the memory of earlier exports.
        await using service = await startService(url);
        idle = memoryOf(service.workerd).now;
        resetPeak(service.workerd);
        const before = [treeCpu(service.workerd), treeCpu(server.pid)] as const;
        const run = await service.read(`/responses/csv?survey=${survey}&layout=${layout}`, account);
        ({ bytes } = run);
        runs.seconds.push(run.seconds);
        runs.cpu.push(treeCpu(service.workerd) - before[0]);
        runs.database.push(treeCpu(server.pid) - before[1]);
        runs.peak.push(memoryOf(service.workerd).peak);
      }
      const [seconds, cpu] = [Math.min(...runs.seconds), Math.min(...runs.cpu)];
      process.stdout.write(
        `${layout}, ${size} responses, ${(bytes / 2 ** 20).toFixed(1)} MiB: ${Math.round(size / seconds)} responses/s, ` +
          `${Math.round(size / cpu)} per CPU-second of workerd, ${Math.min(...runs.database).toFixed(2)} CPU-seconds of ` +
          `Postgres, peak ${median(runs.peak).toFixed(0)} MiB (idle ${idle.toFixed(0)})\n`,
      );
    }
  }
});
