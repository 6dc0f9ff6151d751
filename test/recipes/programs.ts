import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** How a program finished, and what it printed. */
export interface Finished {
  /** null if it could not be started or was killed by a signal. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Arguments of the program. */
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Added to the environment of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Written to its stdin. */
  readonly input?: string | undefined;
}

const TIMEOUT_MS = 120_000;

/** Runs a program until it exits, or for two minutes at most. */
export async function runProgram(
  command: readonly [string, ...string[]],
  { args: more = [], cwd, env, input = '' }: RunOptions = {},
): Promise<Finished> {
  const [program, ...args] = command;
  const child = spawn(program, [...args, ...more], { cwd, env: { ...process.env, ...env } });
  // spawn's own timeout keeps this process alive if the program does not exist.
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const failure = Promise.withResolvers<Finished>();
  child.on('error', ({ message }) => failure.resolve({ status: null, stdout: '', stderr: message })); // no such program
  child.stdin.on('error', () => {}); // it may exit without reading its input
  child.stdin.end(input);
  const end = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr]): Finished => ({ status: child.exitCode, stdout, stderr }),
  );
  try {
    return await Promise.race([end, failure.promise]);
  } finally {
    clearTimeout(timer);
  }
}
