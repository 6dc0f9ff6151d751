import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UserError } from '../command.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { runWrangler } from '../wrangler.ts';

/** Which cache a command clears: the local one, or with `remote` that of the deployed service. */
export interface CacheOptions {
  readonly remote?: boolean | undefined;
  /** The deployed service's environment in wrangler.toml. */
  readonly env?: string | undefined;
}

/**
 * Call this before changing anything. @throws UserError if the options contradict each other or the
 * environment variables
 */
export function checkCacheOptions({ remote, env }: CacheOptions): void {
  if (remote && !process.env['DATABASE_URL'])
    throw new UserError(
      '--remote: set DATABASE_URL to the database of the deployed service, which this changes as well',
    );
  if (env !== undefined && !remote)
    throw new UserError('--env: only valid with --remote, whose environment it names');
}

/**
 * Deletes a key's entry from the Worker's KV namespace, so that the next request with the key
 * queries the database. The local namespace is that of `npm start` in `DATA_DIR`, whether it is
 * running or not, if there is one.
 *
 * wrangler reads the hash from a file that only its owner can read, because arguments are visible
 * in process lists.
 *
 * @param hash the key's SHA-256, lowercase hexadecimal
 * @throws UserError with a short reason that does not contain the hash
 */
export async function removeFromCache(hash: string, { remote, env }: CacheOptions): Promise<void> {
  const localFolder = join(resolve(process.env['DATA_DIR'] || '.data'), 'kv');
  if (!remote && !existsSync(localFolder)) return;
  const where = remote ? ['--remote'] : ['--local', '--persist-to', localFolder];
  const environment = env === undefined ? [] : [`--env=${env}`];
  await using folder = await makeTemporaryFolder();
  const file = join(folder.path, 'entries.json');
  await writeFile(file, JSON.stringify([hash]), { mode: 0o600 });
  await runWrangler([
    'kv',
    'bulk',
    'delete',
    file,
    '--force',
    '--binding',
    'API_KEYS',
    ...where,
    ...environment,
  ]);
}
