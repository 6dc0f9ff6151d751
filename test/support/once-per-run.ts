import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { canReach, serverUser } from '../../tools/postgres/os-user.ts';

/** The environment variable that names the folder that the processes of a test run share. */
const RUN_FOLDER = 'SURVEY_EXPORT_TEST_RUN';
const POLL_MS = 20;

let own: Promise<string> | undefined;

/**
 * Creates a folder that all processes of a test run share, such as the Worker's bundle. The first
 * process that needs it creates it, and the others wait. It is removed after the run, because its
 * sources may change.
 *
 * @param make fills the empty folder
 * @returns the folder's path; do not write to the folder
 */
export async function oncePerRun(
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(await runFolder(), name);
  const complete = `${folder}.complete`;
  for (; !existsSync(complete); await sleep(POLL_MS)) {
    const created = await mkdir(folder, { recursive: true });
    if (created === undefined) continue; // it exists, because another process was first
    try {
      await make(folder);
      await mkdir(complete);
    } catch (error) {
      await rm(folder, { recursive: true });
      throw error;
    }
  }

  return folder;
}

/** Creates an empty folder, which is removed after the run. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(await runFolder(), 'test-'));
  await chmod(folder, 0o711); // a server in it may run as another user
  return folder;
}

/** The folder of vitest's run, or else of this process. */
export async function runFolder(): Promise<string> {
  return process.env[RUN_FOLDER] ?? (own ??= createRunFolder());
}

async function createRunFolder(): Promise<string> {
  const user = await serverUser();
  const parent = await realpath(tmpdir());
  const folder = await mkdtemp(
    join((await canReach(parent, user)) ? parent : '/tmp', 'survey-export-run-'),
  );

  await chmod(folder, 0o711);
  removeWhenOver(folder);
  return folder;
}

/**
 * Removes `folder` a second after this process ends, however it ends, so that the servers in it can
 * stop first.
 */
function removeWhenOver(folder: string): void {
  const script = 'read -r line; sleep 1; rm -rf -- "$0"';
  const shell = spawn('/bin/sh', ['-c', script, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });

  shell.unref();
  if (shell.stdin && 'unref' in shell.stdin && typeof shell.stdin.unref === 'function')
    shell.stdin.unref();
}

/**
 * Vitest's global setup: starts a run, which all processes started later belong to. After a watched
 * file changes, a service that a test file starts uses the new version; the one that all files of a
 * project share keeps the old one.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = await createRunFolder();
  process.env[RUN_FOLDER] = folder;
  // speeds up each start of wrangler
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compiled');
  project.onTestsRerun(async () => {
    const bundles = (await readdir(folder)).filter((name) => name.startsWith('bundle of '));
    for (const name of bundles) await rm(join(folder, name), { recursive: true, force: true });
  });
}
