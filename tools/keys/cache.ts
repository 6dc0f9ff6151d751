import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UserError } from '../command.ts';
import { runWrangler } from './wrangler.ts';

/** Which cache a command clears: this machine's, or with `remote` a deployed service's. */
export interface CacheOptions {
  readonly remote?: boolean | undefined;
  /** wrangler's environment, of the deployed service. */
  readonly env?: string | undefined;
}

/** To be asked before anything is changed. @throws UserError when the options do not go together with the environment */
export function checkCacheOptions({ remote, env }: CacheOptions): void {
  if (remote && !process.env['DATABASE_URL'])
    throw new UserError(
      '--remote: set DATABASE_URL to the database of the deployed service, which this changes as well',
    );
  if (env !== undefined && !remote) throw new UserError('--env: goes with --remote, whose environment it names');
}

/**
 * Removes a key's entry from the KV namespace in which the Worker caches keys, so that the database is asked when the key
 * is used next. On this machine that is the one of `npm start` in `DATA_DIR`, running or not, if there is any.
 *
 * The hash goes through a file that only its owner can read, in a folder that is removed afterwards with wrangler's log.
 *
 * @param hash the key's SHA-256, lower-case hexadecimal
 * @throws UserError with a reason in a few words, without the hash
 */
export async function removeFromCache(hash: string, { remote, env }: CacheOptions): Promise<void> {
  const localFolder = join(resolve(process.env['DATA_DIR'] || '.data'), 'kv');
  if (!remote && !(await isFolder(localFolder))) return;

  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  for (const signal of SIGNALS) process.on(signal, interrupt);
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-keys-'));
  try {
    const file = join(folder, 'entries.json');
    await writeFile(file, JSON.stringify([hash]), { mode: 0o600 });
    const where = remote ? ['--remote'] : ['--local', '--persist-to', localFolder];
    const environment = env === undefined ? [] : [`--env=${env}`];
    await runWrangler(['kv', 'bulk', 'delete', file, '--force', '--binding', 'API_KEYS', ...where, ...environment], {
      logFolder: join(folder, 'logs'),
      signal: interruption.signal,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
