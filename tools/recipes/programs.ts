import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** How a program ended, and what it wrote. */
export interface Ended {
  /** null when it could not be started, or was ended by a signal. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a program gets beside the environment of this process. */
export interface Surroundings {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** For its stdin, which is empty when not given. */
  readonly input?: string | undefined;
  readonly timeoutMs?: number;
}

/** Runs a program to its end, or to a timeout. */
export async function runProgram(
  command: readonly [string, ...string[]],
  { cwd, env, input = '', timeoutMs = 120_000 }: Surroundings = {},
): Promise<Ended> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
  // Not spawn's own timeout: it keeps this process from ending when there is no such program.
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const failure = Promise.withResolvers<Ended>();
  child.on('error', ({ message }) => failure.resolve({ status: null, stdout: '', stderr: message })); // there is none
  child.stdin.on('error', () => {}); // it need not read it
  child.stdin.end(input);
  const end = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr]): Ended => ({ status: child.exitCode, stdout, stderr }),
  );
  try {
    return await Promise.race([end, failure.promise]);
  } finally {
    clearTimeout(timer);
  }
}
