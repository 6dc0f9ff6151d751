import { once } from 'node:events';
import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../command.ts';
import { spawnKilledWithParent } from '../kill-with-parent.ts';
import { inPlainWords } from '../postgres/data-folder.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import type { WorkerOptions } from '../worker.ts';

/**
 * Starts a process that bundles the Worker, and runs it once `start` is called.
 *
 * @param isWatching reloads it when its code changes
 * @returns the process. Disposing of it stops it, with all that it has started; this can be done
 * twice
 */
export async function startWorkerProcess(isWatching: boolean) {
  const program = fileURLToPath(new URL('worker-process.ts', import.meta.url));
  const folder = await makeTemporaryFolder();
  const child = spawnKilledWithParent(
    process.execPath,
    [program, folder.path, ...(isWatching ? ['--watch'] : [])],
    {
      env: { ...process.env, TMPDIR: folder.path }, // for miniflare
      stdio: ['pipe', 'inherit', 'inherit'],
      detached: true, // a new process group, so that all of it can be killed
      onParentExit: 'KILL',
      group: true,
    },
  );

  child.stdin?.on('error', () => {}); // the process has ended
  const exited = once(child, 'exit');
  const ended = exited.then((): never => {
    throw new UserError('the Worker has ended unexpectedly: see the messages above');
  });

  ended.catch(() => {}); // nobody waits for it any more when the process is stopped

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    try {
      process.kill(-(child.pid as number), 'SIGKILL'); // its process group
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }

    await exited;
    await folder[Symbol.asyncDispose]();
  }

  return {
    /**
     * Starts the Worker. May be called once.
     *
     * @param options.dataDir where the local KV persists, in `kv`, as with wrangler's
     * `--persist-to`
     * @throws UserError if this service cannot use `dataDir`
     */
    async start({
      dataDir,
      ...given
    }: {
      port: number;
      dataDir: string;
      vars: Record<string, string>;
    }): Promise<void> {
      const kv = join(resolve(dataDir), 'kv');
      try {
        await mkdir(kv, { recursive: true });
        await chmod(kv, 0o700);
      } catch (error) {
        throw inPlainWords(error, dataDir);
      }

      const options: WorkerOptions = { ...given, resourcePersistencePath: join(kv, 'v3') };
      child.stdin?.end(JSON.stringify(options));
    },
    /** Rejects if the Worker cannot be started, and when it ends. */
    ended,
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
}
