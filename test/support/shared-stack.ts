import type { TestProject } from 'vitest/node';
import { startPgBouncer } from './pgbouncer.ts';
import { startStack } from './stack.ts';

/** Vitest's global setup: starts one service for all files of the project, with PgBouncer if `npm run pgbouncer` runs it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startStack(process.env['TEST_PGBOUNCER'] ? { startPooler: startPgBouncer } : {});
  project.provide('stack', stack.address);
  return () => stack.stop();
}
