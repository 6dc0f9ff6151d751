import type { BenchAccount, BenchSurvey } from './data.ts';
import { treeCpu } from './process-stats.ts';
import type { Figure, Measurement } from './report.ts';
import { type BenchService, startService } from './service.ts';

const WARM_UPS = 3;

/** The total cost of several exports. */
interface Cost {
  seconds: number;
  cpuSeconds: number;
}

/**
 * Compares a plain export by the service with one by its engine alone, in alternating runs. The
 * difference is the cost of the features around the engine to an export that uses none of them.
 */
export async function measureFeatures(
  databaseUrl: string,
  survey: BenchSurvey,
  account: BenchAccount,
  turns: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  await using service = await startService(databaseUrl);
  await using engine = await startService(databaseUrl, { entry: 'bench/bare-worker.ts' });
  const total = { service: newCost(), engine: newCost() };
  const exportFrom = {
    service: (cost: Cost) =>
      measure(service, `/responses/csv?survey=${survey.name}`, account, cost),
    engine: (cost: Cost) => measure(engine, `/${account.id}?survey=${survey.name}`, account, cost),
  };
  for (let i = 0; i < WARM_UPS + turns; i++) {
    const order = i % 2 === 0 ? (['service', 'engine'] as const) : (['engine', 'service'] as const);
    for (const which of order) await exportFrom[which](i < WARM_UPS ? newCost() : total[which]);
  }
  const rowsPerSecond = ({ seconds }: Cost) => (turns * survey.rows) / seconds;
  return {
    figures: [
      {
        name: 'the service ÷ its engine alone',
        value: total.engine.seconds / total.service.seconds,
        bound: { atLeast: 0.97 },
      },
      {
        name: 'workerd CPU, the service ÷ its engine alone',
        value: total.service.cpuSeconds / total.engine.cpuSeconds,
        bound: { atMost: 1.03 },
      },
    ],
    measurements: [
      {
        name: 'the service, alternating with its engine',
        value: rowsPerSecond(total.service),
        unit: 'rows/s',
      },
      { name: 'its engine alone', value: rowsPerSecond(total.engine), unit: 'rows/s' },
    ],
  };
}

const newCost = (): Cost => ({ seconds: 0, cpuSeconds: 0 });

async function measure(
  service: BenchService,
  path: string,
  account: BenchAccount,
  cost: Cost,
): Promise<void> {
  const cpu = treeCpu(service.workerd);
  const { seconds } = await service.read(path, account);
  cost.seconds += seconds;
  cost.cpuSeconds += treeCpu(service.workerd) - cpu;
}
