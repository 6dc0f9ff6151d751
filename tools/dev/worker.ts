import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../command.ts';
import { WRANGLER, WRANGLER_ENV } from '../wrangler.ts';

/** The Worker in workerd. */
export interface RunningWorker {
  /** Rejects when the Worker ends without having been stopped. */
  readonly ended: Promise<never>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const STOP_MS = 2_000;

/**
 * Starts `wrangler dev` with the Worker's variables and secrets. Secrets go through a file that only its owner can read: a
 * command line shows in every process list.
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
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: root,
    // The secrets once more: wrangler takes a variable of its own environment, such as our DATABASE_URL, before the file's.
    env: { ...process.env, ...WRANGLER_ENV, ...options.secrets, WRANGLER_LOG_PATH: join(dataDir, 'wrangler-logs') },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true, // a process group of its own, so that all of it can be ended
  });

  const killGroup = () => signalGroup(child, 'SIGKILL');
  process.on('exit', killGroup); // should this process have to end before the Worker

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
      killGroup(); // whatever wrangler left behind
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
