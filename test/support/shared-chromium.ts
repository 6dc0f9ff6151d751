import type { TestProject } from 'vitest/node';
import { type Program, findChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    chromium: Program;
  }
}

/** Vitest's global setup: finds a browser, which each process of the project starts. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const found = await findChromium();
  const { path, env } = found;
  project.provide('chromium', { path, ...(env && { env }) });
  return async () => await found[Symbol.asyncDispose]();
}
