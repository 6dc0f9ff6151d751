import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from './command.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Path of wrangler's program, to run with `process.execPath`. */
export const WRANGLER = join(root, 'node_modules/wrangler/bin/wrangler.js');

/** Environment variables that keep wrangler quiet and offline. */
export const WRANGLER_ENV = {
  CI: 'true', // no prompts
  CLOUDFLARE_CF_FETCH_ENABLED: 'false', // no lookup of this machine's location
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'), // wrangler starts faster
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
};

/**
 * Bundles a Worker as for a deployment, with the bindings of wrangler.toml's top level.
 *
 * @param entry the Worker's module, relative to the project's root
 * @param file receives what would be uploaded: a multipart form with the modules and the bindings
 * @throws UserError if the code has an error, which wrangler prints to stderr
 */
export async function bundleWorker(entry: string, file: string): Promise<void> {
  const child = spawn(process.execPath, [WRANGLER, 'deploy', entry, '--dry-run', '--env=', `--outfile=${file}`], {
    cwd: root,
    env: { ...process.env, ...WRANGLER_ENV, WRANGLER_LOG: 'error', WRANGLER_WRITE_LOGS: 'false' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new UserError('the Worker cannot be bundled: see the messages above');
}
