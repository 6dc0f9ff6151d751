import { fileURLToPath } from 'node:url';
import { type Finished, startProgram } from './programs.ts';

/** The exit status and output of a command-line tool. */
export type Outcome = Finished;

/** Removes the line with which a command names its database. */
export const withoutDatabase = (stderr: string): string => stderr.replace(/^Database: .*\n/m, '');

/**
 * Starts `tools/<name>` as npm would, as another OS user if one is given. Kills it after `timeout`
 * milliseconds, if that is not 0.
 */
export function startTool(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
  user?: { readonly uid: number; readonly gid: number },
  timeout = 100_000,
) {
  const script = fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
  return startProgram([process.execPath, script, ...args], {
    cwd,
    env: { DATABASE_URL: '', ...env },
    user,
    timeoutMs: timeout,
  });
}
