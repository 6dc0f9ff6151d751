import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guardFolder } from './guard.ts';
import { postgresAccount, temporaryFolder } from './postgres-programs.ts';

/** The environment variable that names the folder which the processes of a test run share. */
const RUN_FOLDER = 'SURVEY_EXPORT_TEST_RUN';
const POLL_MS = 20;
/** Longer than anything takes that is made here: whoever was making it has died. */
const PATIENCE_MS = 120_000;

let own: Promise<string> | undefined;

/**
 * Makes a folder of what every service in a test run needs alike, such as the Worker's bundle: the first that wants it makes
 * it, and all others, in whatever process, wait for that. It is made anew for each run, since what it is made of may have
 * changed, and goes with the run.
 *
 * @param name of the folder, telling what it is made of
 * @param make fills the folder, which is empty
 * @returns the folder's path, not to be written to
 */
export async function oncePerRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const made = join(await runFolder(), name);
  const draft = `${made}.draft`;
  const deadline = Date.now() + PATIENCE_MS;
  while (!existsSync(made)) {
    if (await isOurs(draft)) await fill(draft, made, make);
    else if (Date.now() < deadline) await sleep(POLL_MS);
    else throw new Error(`${draft} has not been finished for ${PATIENCE_MS / 1000} s`);
  }
  return made;
}

/** Makes `draft` unless it is there, in which case another one is filling it. */
async function isOurs(draft: string): Promise<boolean> {
  try {
    await mkdir(draft);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function fill(draft: string, made: string, make: (folder: string) => Promise<void>): Promise<void> {
  try {
    if (existsSync(made)) await rm(draft, { recursive: true }); // it was done just before
    else {
      await make(draft);
      await rename(draft, made);
    }
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** The folder of the run that this process is a part of: vitest's, or else the process is a run of its own. */
async function runFolder(): Promise<string> {
  return process.env[RUN_FOLDER] ?? (own ??= createRunFolder());
}

async function createRunFolder(): Promise<string> {
  const folder = await mkdtemp(join(await temporaryFolder(await postgresAccount()), 'survey-export-run-'));
  await chmod(folder, 0o711); // a server in it may run as another user
  guardFolder(folder);
  return folder;
}

/** Begins a run that the processes started from now on are a part of. @returns its folder */
export async function beginRun(): Promise<string> {
  const folder = await createRunFolder();
  process.env[RUN_FOLDER] = folder;
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compiled'); // wrangler's code above all, for each time it is started
  return folder;
}
