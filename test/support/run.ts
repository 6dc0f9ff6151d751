import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { beginRun } from './once-per-run.ts';

/** Vitest's global set-up of all projects: what its processes share, forgotten when a watched file has changed. */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = await beginRun();
  project.onTestsRerun(async () => {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
  });
}
