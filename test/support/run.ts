import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { beginRun } from './once-per-run.ts';

/** Folders built from watched files. Running services use the other folders of a run. */
const BUILT = /^bundle of /;

/**
 * Vitest's global setup for all projects. After a watched file changes, a service that a test file starts uses the new version;
 * the service that all files of a project share keeps the old one.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = await beginRun();
  project.onTestsRerun(async () => {
    const names = (await readdir(folder)).filter((name) => BUILT.test(name));
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  });
}
