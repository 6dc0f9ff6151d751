import type { BenchAccount, BenchSurvey } from './data.ts';
import { treeCpu } from './process-stats.ts';
import type { Figure, Measurement } from './report.ts';
import { type BenchService, startService } from './service.ts';

/** The cost of an export: the minimum of several runs. */
interface Cost {
  seconds: number;
  cpuSeconds: number;
}

/**
 * Compares a plain export by the service with one by its engine alone, in alternating runs. The difference is the cost of the
 * features around the engine to an export that uses none of them.
 */
export async function measureFeatures(
  databaseUrl: string,
  survey: BenchSurvey,
  account: BenchAccount,
  turns: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  await using service = await startService(databaseUrl);
  await using engine = await startService(databaseUrl, { entry: 'bench/bare-worker.ts' });
  const best = { service: newCost(), engine: newCost() };
  for (let i = 0; i <= turns; i++) {
    const isWarmUp = i === 0;
    await measure(service, `/responses/csv?survey=${survey.name}`, account, isWarmUp ? newCost() : best.service);
    await measure(engine, `/${account.id}?survey=${survey.name}`, account, isWarmUp ? newCost() : best.engine);
  }
  const rowsPerSecond = ({ seconds }: Cost) => survey.rows / seconds;
  return {
    figures: [
      {
        name: 'the service ÷ its engine alone',
        value: best.engine.seconds / best.service.seconds,
        bound: { atLeast: 0.97 },
      },
      {
        name: 'workerd CPU, the service ÷ its engine alone',
        value: best.service.cpuSeconds / best.engine.cpuSeconds,
        bound: { atMost: 1.03 },
      },
    ],
    measurements: [
      { name: 'the service, alternating with its engine', value: rowsPerSecond(best.service), unit: 'rows/s' },
      { name: 'its engine alone', value: rowsPerSecond(best.engine), unit: 'rows/s' },
    ],
  };
}

const newCost = (): Cost => ({ seconds: Infinity, cpuSeconds: Infinity });

async function measure(service: BenchService, path: string, account: BenchAccount, best: Cost): Promise<void> {
  const cpu = treeCpu(service.workerd);
  const { seconds } = await service.read(path, account);
  best.seconds = Math.min(best.seconds, seconds);
  best.cpuSeconds = Math.min(best.cpuSeconds, treeCpu(service.workerd) - cpu);
}
