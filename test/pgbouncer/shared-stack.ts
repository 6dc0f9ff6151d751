import type { TestProject } from 'vitest/node';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { startStack } from '../support/stack.ts';

/** Vitest's global setup: one service for all files, whose statements go through PgBouncer. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let stopPooler = async () => {};
  const stack = await startStack({
    startPooler: async (databaseUrl) => {
      const pooler = await startPgBouncer(databaseUrl);
      stopPooler = pooler.stop;
      return pooler.url;
    },
  });
  project.provide('stack', stack.address);
  return async () => {
    await stack.stop();
    await stopPooler();
  };
}
