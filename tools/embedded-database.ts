import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UserError } from './command.ts';
import { joinOrClaim, type Claim } from './embedded-database/registration.ts';
import type { WorkerInput, WorkerOrder, WorkerNews } from './embedded-database/worker.ts';

/** The embedded Postgres of a data directory, run by this process or by another one. */
export interface EmbeddedDatabase {
  /** `postgres://` URL with a password. One connection is served at a time; further ones wait for their turn. */
  readonly url: string;
  /** Whether another process runs it, and ends it when it likes. */
  readonly isBorrowed: boolean;
  /**
   * Leaves the database. The process that runs it ends it: `when unused`, that is as soon as no other process is using it
   * any more, or `now`, which breaks their connections.
   */
  close(how: 'when unused' | 'now'): Promise<void>;
}

/** How long a query may go on when the database is to close now. It loses nothing by being broken off. */
const CLOSE_NOW_MS = 2000;

/**
 * Opens the Postgres (PGlite) whose files are in `<dataDir>/postgres`, creating it when there is none. Only one process can
 * have it open: when another one has, that one's is used.
 *
 * @param signal gives up opening it
 * @throws UserError when another process has the data directory, but does not answer; or when it was given up
 */
export async function openEmbeddedDatabase(dataDir: string, signal?: AbortSignal): Promise<EmbeddedDatabase> {
  const joined = await joinOrClaim(dataDir, signal);
  if (!('url' in joined)) return run(dataDir, joined, signal);
  const { url, lease } = joined;
  return {
    url,
    isBorrowed: true,
    close: async () => {
      lease.destroy();
    },
  };
}

async function run(dataDir: string, claim: Claim, signal: AbortSignal | undefined): Promise<EmbeddedDatabase> {
  const password = randomBytes(16).toString('hex');
  const input: WorkerInput = { folder: join(resolve(dataDir), 'postgres'), password };
  const file = new URL('embedded-database/worker.ts', import.meta.url);
  const worker = new Worker(file, { workerData: input, execArgv: [] });
  const exit = new Promise<void>((done) => worker.once('exit', () => done()));
  const giveUp = () => void worker.terminate(); // even in the middle of making a database: see pglite.ts
  signal?.addEventListener('abort', giveUp);
  try {
    if (signal?.aborted) giveUp();
    const port = await portOf(worker);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    await claim.publish(url);
    worker.on('message', ({ port: now }: WorkerNews) => {
      if (now === null) void claim.publish(null);
    });
    return { url, isBorrowed: false, close: (how) => close(how) };
  } catch (cause) {
    await worker.terminate();
    await claim.release();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(`The embedded database in ${input.folder} cannot be opened: ${reason}`, { cause });
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }

  async function close(how: 'when unused' | 'now'): Promise<void> {
    worker.postMessage(`close ${how}` satisfies WorkerOrder);
    if (how === 'now') await Promise.race([exit, setTimeout(CLOSE_NOW_MS, undefined, { ref: false })]);
    else await exit;
    await worker.terminate();
    await claim.release();
  }
}

/** The port on which the thread listens, once it does. */
async function portOf(worker: Worker): Promise<number> {
  const { promise, resolve: ready, reject } = Promise.withResolvers<number>();
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('its thread ended')));
  worker.once('message', ({ port }: WorkerNews) => ready(port ?? 0));
  const port = await promise;
  worker.removeListener('error', reject); // from now on an error there is as fatal as one here
  return port;
}
