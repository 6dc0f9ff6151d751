// node bench/wide.ts: the wide layout beside the long one, on the same responses.
import { Command, InvalidArgumentError } from 'commander';
import { Client } from 'pg';
import { startPostgres } from '../test/support/postgres.ts';
import { runCommand } from '../tools/command.ts';
import { migrate } from '../tools/migrations.ts';
import { createAccount, createSurvey } from './data.ts';
import { memoryOf, resetPeak, treeCpu } from './process-stats.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

const RUNS = 3;

const program = new Command('node bench/wide.ts')
  .description('Measures layout=wide beside layout=long.')
  .option('--rows <n>', 'responses in the survey', count, 1_000_000);

function count(text: string): number {
  if (!/^[1-9]\d{3,8}$/.test(text)) throw new InvalidArgumentError('a number from 1000 to 999999999.');
  return Number(text);
}

await runCommand(async () => {
  const { rows } = program.parse().opts<{ rows: number }>();
  await using cleanUp = new AsyncDisposableStack();
  const server = await startPostgres({ settings: { shared_buffers: '1GB', max_wal_size: '4GB' } });
  cleanUp.defer(() => server.stop());
  const url = await server.createDatabase();
  await migrate(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  cleanUp.defer(() => client.end());
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
        // A workerd of its own: memory that one export has used stays with the process.
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
