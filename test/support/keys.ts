import { join } from 'node:path';
import { runHere } from './run-here.ts';
import { query, startDatabase } from './database.ts';
import { newFolder } from './once-per-run.ts';
import { parseDuration } from '../../tools/keys/arguments.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { listKeys } from '../../tools/keys/list.ts';

/** The note on stderr after changing a database that a deployed service may be using. */
export const CACHE_NOTE =
  'A deployed service may take up to 5 minutes to notice: its cache was not touched. --remote clears it.\n';

export const UNKNOWN_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/**
 * `npm run keys` on its own database, with the account you@example.org; nobody is logged in to
 * Cloudflare.
 */
export async function startKeysCommand() {
  const folder = await newFolder();
  const { url } = await startDatabase();
  const env = {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
    TMPDIR: folder,
    // A developer may be logged in to Cloudflare: nothing may reach their account.
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    CLOUDFLARE_API_TOKEN: '',
    CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:9/client/v4',
  };

  await query(url, `insert into users (email) values ('you@example.org')`);
  return {
    url,
    /** The command's HOME and TMPDIR. */
    folder,
    env,
    run: (args: string, more?: NodeJS.ProcessEnv) => runHere('keys.ts', args, { ...env, ...more }),
    listed: async (id: string) => (await listKeys(url)).find((key) => key.id === id),
    /** Changes a key. @param changes SQL */
    update: (id: string, changes: string) =>
      query(url, `update api_keys set ${changes} where id = $1`, [id]),
    /** Issues a key for you@example.org. */
    issue({ name = 'API key', expires }: { name?: string; expires?: string } = {}) {
      const expiresInMs = expires === undefined ? undefined : parseDuration('expires', expires);
      return issueKey(url, { email: 'you@example.org', name, expiresInMs });
    },
  };
}
