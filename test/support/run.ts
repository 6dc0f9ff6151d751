import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { beginRun } from './once-per-run.ts';

/** What is made of files that are watched; the rest of a run's folder is in use by services that go on. */
const MADE_OF_SOURCES = /^bundle of |^embedded database/;

/**
 * Vitest's global set-up of all projects: what its processes share. When a watched file has changed, services that a test file
 * starts have it; the two that all files of the API suite share were started before, and stay as they were.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = await beginRun();
  project.onTestsRerun(async () => {
    const names = (await readdir(folder)).filter((name) => MADE_OF_SOURCES.test(name));
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  });
}
