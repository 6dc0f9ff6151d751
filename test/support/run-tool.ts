import { fileURLToPath } from 'node:url';
import { type Finished, type RunOptions, startProgram } from './programs.ts';

/** The exit status and output of a command-line tool. */
export type Outcome = Finished;

/** Removes the line with which a command names its database. */
export const withoutDatabase = (stderr: string): string => stderr.replace(/^Database: .*\n/m, '');

/** Starts `tools/<name>` as npm would. */
export function startTool(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  options?: Omit<RunOptions, 'env'>,
) {
  const script = fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
  const all = { env: { DATABASE_URL: '', ...env }, timeoutMs: 100_000, ...options };
  return startProgram([process.execPath, script, ...args], all);
}
