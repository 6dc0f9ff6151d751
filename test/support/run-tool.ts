import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The exit status and output of a command-line tool. */
export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Removes the line with which a command names its database. */
export const withoutDatabase = (stderr: string): string => stderr.replace(/^Database: .*\n/m, '');

/** Starts `tools/<name>` as npm would, as another OS user if one is given. Kills it after `timeout` milliseconds, if that is not 0. */
export function startTool(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
  user?: { readonly uid: number; readonly gid: number },
  timeout = 100_000,
): { readonly child: ChildProcess; readonly outcome: Promise<Outcome> } {
  const script = fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    ...user,
    env: { ...process.env, DATABASE_URL: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
  });
  const outcome = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr]): Outcome => ({ status: child.exitCode, stdout, stderr }),
  );
  return { child, outcome };
}
