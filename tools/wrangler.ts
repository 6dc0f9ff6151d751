import { type ExecFileException, execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'smol-toml';
import { UserError } from './command.ts';

/** The path of the project. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The path of wrangler.toml. */
export const CONFIG = join(ROOT, 'wrangler.toml');

/** `[assets]` in wrangler.toml. The bundle's metadata does not have it. */
export interface Assets {
  readonly directory: string;
  readonly binding: string;
  readonly run_worker_first: string[];
}

/** Path of wrangler's program, to run with `process.execPath`. */
export const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');

/** Environment variables that keep wrangler quiet and offline. */
export const WRANGLER_ENV = {
  CI: 'true', // no prompts
  CLOUDFLARE_CF_FETCH_ENABLED: 'false', // no lookup of this machine's location
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'), // wrangler starts faster
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
};

/**
 * The paths in a folder of a Worker that `bundleWorker` has written: of what would be uploaded, a multipart form with the modules and
 * the bindings, and of the folder of static files.
 */
export const bundleIn = (folder: string) => ({ worker: join(folder, 'worker'), assets: join(folder, 'assets') });

export async function readAssets(): Promise<Assets> {
  return (parse(await readFile(CONFIG, 'utf8')) as unknown as { assets: Assets }).assets;
}

/**
 * Bundles a Worker as for a deployment, with the bindings of wrangler.toml's top level, and builds its static files.
 *
 * @param entry the Worker's module, relative to the project's root
 * @param folder receives the bundle: see {@link bundleIn}
 * @throws UserError if the code has an error, which wrangler prints to stderr
 */
export async function bundleWorker(entry: string, folder: string): Promise<void> {
  const { worker, assets } = bundleIn(folder);
  const args = [WRANGLER, 'deploy', entry, '--dry-run', '--env=', `--outfile=${worker}`];
  const env = { ...process.env, ...WRANGLER_ENV, WRANGLER_WRITE_LOGS: 'false' };
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, env }).catch((cause: ExecFileException) => {
    process.stderr.write(`${cause.stdout}${cause.stderr}`);
    throw new UserError('the Worker cannot be bundled: see the messages above', { cause });
  });
  // The files are copied, since the next build replaces them.
  await cp(join(ROOT, (await readAssets()).directory), assets, { recursive: true });
}
