import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { beginRun } from './once-per-run.ts';

/** What is built from watched files; running services use the rest of a run's folder. */
const BUILT = /^bundle of /;

/**
 * Vitest's global setup of all projects. After a watched file has changed, services that a test file starts use the new
 * version; the one that all files of the API suite share keeps the old one.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = await beginRun();
  project.onTestsRerun(async () => {
    const names = (await readdir(folder)).filter((name) => BUILT.test(name));
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  });
}
