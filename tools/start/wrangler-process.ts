// Runs the Worker for `npm run dev`, like worker-process.ts, but with `wrangler dev`, which reloads it when its code changes.
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { runCommand } from '../command.ts';
import type { WorkerOptions } from '../worker.ts';
import { CONFIG, WRANGLER_ENV } from '../wrangler.ts';

delete process.env['DATABASE_URL']; // the owner's URL, which wrangler would give to the Worker
Object.assign(process.env, WRANGLER_ENV, {
  WRANGLER_LOG_PATH: join(process.argv[2] ?? '', 'logs'),
  // Every user of this machine could read and write the KV, and read the traces.
  X_LOCAL_EXPLORER: 'false',
  X_LOCAL_OBSERVABILITY: 'false',
});

await runCommand(async () => {
  const [{ unstable_startWorker: startWorker }, options] = await Promise.all([import('wrangler'), json(process.stdin)]);
  const { port = 0, vars = {}, resourcePersistencePath = '' } = options as WorkerOptions;
  const bindings = Object.entries(vars).map(([name, value]) => [name, { type: 'secret_text', value }] as const);
  const worker = await startWorker({
    config: CONFIG,
    envFiles: [], // .dev.vars is not read
    bindings: Object.fromEntries(bindings),
    dev: { server: { hostname: '127.0.0.1', port }, inspector: false, persist: resourcePersistencePath, watch: true },
  });
  await worker.ready;
});
if (process.exitCode) process.exit(); // after an error, wrangler would keep the process running
