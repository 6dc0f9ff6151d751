import type { TestProject } from 'vitest/node';
import { startChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of the shared Chromium. */
    chromium: string;
  }
}

/** Vitest's global setup: starts one browser for all files of the project. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const running = await startChromium();
  project.provide('chromium', running.endpoint);
  return async () => await running[Symbol.asyncDispose]();
}
