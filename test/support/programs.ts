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
  readonly cwd?: string | undefined;
  /** Added to the environment of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** When it is killed; never if 0. */
  readonly timeoutMs?: number;
}

type Command = readonly [string, ...string[]];

/** Starts a program. */
export function startProgram(
  [program, ...args]: Command,
  { cwd, env, timeoutMs = 120_000 }: RunOptions = {},
) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });

  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const outcome = once(child, 'close').then(
    async (): Promise<Finished> => {
      const [stdout, stderr] = await printed;
      return { status: child.exitCode, stdout, stderr };
    },
    // no such program
    ({ message }: Error): Finished => ({ status: null, stdout: '', stderr: message }),
  );

  return { child, outcome };
}

/** Runs a program until it exits, or for two minutes at most. */
export const runProgram = (command: Command, options?: RunOptions) =>
  startProgram(command, options).outcome;

/** Runs the programs of a language. */
export interface Interpreter {
  /** Such as `curl 8.5.0`. */
  readonly version: string;
  /** @param file absolute, or relative to `cwd` */
  readonly run: (file: string, options: RunOptions) => Promise<Finished>;
}

/** Why a language cannot be run. */
export interface Missing {
  readonly missing: string;
}

export const findCurl = () => findProgram(['curl', '--version'], ['sh'], 'curl is not installed');

/** R with the package that the page's programs need. */
export const findR = () =>
  findProgram(
    ['Rscript', '-e', 'library(httr2); cat("R", format(getRversion()))'],
    ['Rscript'],
    'R is not installed, or not with httr2',
  );

/** @param asking prints the version @param running runs a file */
async function findProgram(
  asking: Command,
  running: Command,
  missing: string,
): Promise<Interpreter | Missing> {
  const version = await firstLine(asking);
  return version === undefined ? { missing } : { version, run: withFile(running) };
}

/** The first Python that has these modules: `PYTHON`, or one on the path. */
export async function findPython(
  modules: readonly string[],
): Promise<(Interpreter & { readonly python: string }) | Missing> {
  const versions = modules.map((name) => `"${name}", version("${name}")`);
  const code = `import sys, ${modules.join(', ')}; from importlib.metadata import version; print("Python", sys.version.split()[0], ${versions.join(', ')})`;
  let missing = 'Python is not installed';
  for (const python of [process.env['PYTHON'], 'python3', '/usr/bin/python3', 'python']) {
    if (python === undefined) continue;
    const version = await firstLine([python, '-c', code]);
    if (version !== undefined) return { python, version, run: withFile([python, '-B']) };
    if ((await firstLine([python, '--version'])) !== undefined)
      missing = `Python is installed, but without ${modules.join(' and ')}`;
  }

  return { missing };
}

/**
 * What a program prints first, without notes in parentheses. @returns undefined if it cannot be run
 * or fails
 */
async function firstLine(command: Command): Promise<string | undefined> {
  const { status, stdout } = await runProgram(command);
  return status === 0 ? stdout.split(/\n| \(/)[0]?.trim() : undefined;
}

const withFile =
  (command: Command): Interpreter['run'] =>
  (file, options) =>
    runProgram([...command, file], options);
