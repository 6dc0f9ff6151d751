// Runs the Worker for `npm start`, in a separate process: miniflare ends its process on Ctrl-C, before the database is shut down.
// Its argument is a folder for temporary files. The options are JSON on stdin, since everyone can see command lines.
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { json } from 'node:stream/consumers';
import { runCommand } from '../command.ts';
import type { WorkerOptions } from '../worker.ts';
import { bundleWorker } from '../wrangler.ts';

await runCommand(async () => {
  const folder = process.argv[2] ?? '';
  const bundled = bundleWorker('src/worker.ts', folder);
  const [{ startWorker }, options] = await Promise.all([import('../worker.ts'), json(process.stdin), bundled]);

  let workerd: ChildProcess | undefined;
  subscribe('child_process', (message) => {
    workerd = (message as { process: ChildProcess }).process;
  });
  await startWorker(folder, {
    ...(options as WorkerOptions),
    handleStructuredLogs({ level, message }) {
      if (level === 'error' || level === 'warn') process.stderr.write(`${message}\n`);
    },
  });
  // miniflare would start it again.
  workerd?.once('exit', (status, signal) => {
    process.stderr.write(`workerd has ended: ${signal ?? `status ${status}`}\n`);
    process.exit(1);
  });
});
if (process.exitCode) process.exit(); // after an error, miniflare would keep the process running
