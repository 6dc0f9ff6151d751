import type { TestProject } from 'vitest/node';
import { startStack } from './stack.ts';

/** Vitest's global setup: starts one service for all files of the project. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startStack();
  project.provide('stack', stack.address);
  return () => stack.stop();
}
