import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../command.ts';
import { spawnTethered } from '../tether.ts';
import { WRANGLER, WRANGLER_ENV } from '../wrangler.ts';

/** The Worker in workerd. */
export interface RunningWorker {
  /** Rejects if the Worker ends unexpectedly. */
  readonly ended: Promise<never>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const STOP_MS = 2_000;

/**
 * Starts `wrangler dev` with the Worker's variables and secrets. Secrets go through a file that only its owner can read,
 * since process lists show command lines.
 *
 * @param options.dataDir where the local KV persists, in `kv`
 */
export async function startWorker(options: {
  port: number;
  dataDir: string;
  vars: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}): Promise<RunningWorker> {
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const envFile = join(dataDir, 'worker.env');
  const lines = Object.entries(options.secrets).map(([name, value]) => `${name}="${value}"\n`);
  await writeFile(envFile, lines.join(''), { mode: 0o600 });

  const vars = Object.entries(options.vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]);
  const args = [
    'dev',
    ...['--ip', '127.0.0.1', '--port', String(options.port), '--inspector-port', '0'],
    ...['--persist-to', join(dataDir, 'kv'), '--env-file', envFile],
    ...vars,
    ...['--show-interactive-dev-session=false', '--log-level', 'warn'],
  ];
  const child = spawnTethered(process.execPath, [WRANGLER, ...args], {
    cwd: root,
    // The secrets again, because wrangler prefers environment variables, such as DATABASE_URL, to the file.
    env: { ...process.env, ...WRANGLER_ENV, ...options.secrets, WRANGLER_LOG_PATH: join(dataDir, 'wrangler-logs') },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true, // a new process group, so that all of it can be killed
    onParentExit: 'KILL',
    group: true,
  });

  const killGroup = () => signalGroup(child, 'SIGKILL');
  let stopping = false;
  const exited = once(child, 'exit');
  const ended = exited.then(() => {
    if (stopping) return new Promise<never>(() => {});
    throw new UserError('the Worker has ended unexpectedly: see the messages above');
  });
  ended.catch(() => {});
  return {
    ended,
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      signalGroup(child, 'SIGTERM');
      const timer = setTimeout(killGroup, STOP_MS);
      await exited;
      clearTimeout(timer);
      killGroup(); // child processes that wrangler left running
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
