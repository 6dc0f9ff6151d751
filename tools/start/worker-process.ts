// Runs the Worker for `npm start`, in a separate process: miniflare ends its process on Ctrl-C,
// before the database is shut down. Its arguments are a folder for temporary files, and --watch for
// `npm run dev`, which reloads the Worker when its code changes. The options are JSON on stdin,
// since everyone can see command lines.
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { note, runCommand } from '../command.ts';
import type { WorkerOptions } from '../worker.ts';
import { bundleWorker, CONFIG, WRANGLER_ENV } from '../wrangler.ts';

const [, , folder = '', watch] = process.argv;
await runCommand(watch ? watchWorker : runWorker);
// after an error, miniflare or wrangler would keep the process running
if (process.exitCode) process.exit();

async function runWorker(): Promise<void> {
  const bundled = bundleWorker('src/worker.ts', folder);
  const [{ startWorker }, options] = await Promise.all([
    import('../worker.ts'),
    json(process.stdin),
    bundled,
  ]);

  let workerd: ChildProcess | undefined;
  subscribe('child_process', (message) => {
    workerd = (message as { process: ChildProcess }).process;
  });

  await startWorker(folder, {
    ...(options as WorkerOptions),
    handleStructuredLogs({ level, message }) {
      if (level === 'error' || level === 'warn') note(message);
    },
  });

  let printed = '';
  workerd?.stderr?.on('data', (chunk: Buffer) => {
    printed = `${printed}${chunk.toString()}`.slice(-1_000);
  });

  // miniflare would start it again.
  workerd?.once('close', (status, signal) => {
    const reason = printed.includes('accept(): Too many open files')
      ? `its clients' connections have reached the limit of open files, ${openFiles()} (ulimit -n)`
      : (signal ?? `status ${status}`);
    note(`workerd has ended: ${reason}`);
    process.exit(1);
  });
}

/** The limit of open files, which child processes have too. */
function openFiles(): number | string {
  const report = process.report.getReport() as { userLimits?: { open_files: { soft: number } } };
  return report.userLimits?.open_files.soft ?? 'unknown';
}

/** Runs it with `wrangler dev`. */
async function watchWorker(): Promise<void> {
  delete process.env['DATABASE_URL']; // the owner's URL, which wrangler would give to the Worker
  Object.assign(process.env, WRANGLER_ENV, {
    WRANGLER_LOG_PATH: join(folder, 'logs'),
    // Every user of this machine could read and write the KV, and read the traces.
    X_LOCAL_EXPLORER: 'false',
    X_LOCAL_OBSERVABILITY: 'false',
  });

  const [{ unstable_startWorker: startWorker }, options] = await Promise.all([
    import('wrangler'),
    json(process.stdin),
  ]);

  const { port = 0, vars = {}, resourcePersistencePath = '' } = options as WorkerOptions;
  const bindings = Object.entries(vars).map(
    ([name, value]) => [name, { type: 'secret_text', value }] as const,
  );

  const worker = await startWorker({
    config: CONFIG,
    envFiles: [], // .dev.vars is not read
    bindings: Object.fromEntries(bindings),
    dev: {
      server: { hostname: '127.0.0.1', port },
      inspector: false,
      persist: resourcePersistencePath,
      watch: true,
    },
  });

  await worker.ready;
}
