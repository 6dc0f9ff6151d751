import { type ExecFileException, execFile } from 'node:child_process';
import { cp, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { parse } from 'smol-toml';
import { withoutSecrets } from '../src/http/log.ts';
import { UserError } from './command.ts';
import { printable } from './keys/printable.ts';

/** The path of the project. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The path of wrangler.toml. */
export const CONFIG = join(ROOT, 'wrangler.toml');

/** The parts of wrangler.toml's top level that the local runtime needs. */
export interface Config {
  readonly compatibility_date: string;
  readonly compatibility_flags: string[];
  readonly assets: {
    readonly directory: string;
    readonly binding: string;
    readonly run_worker_first: string[];
  };
  readonly kv_namespaces: readonly { readonly binding: string; readonly id: string }[];
  readonly ratelimits: readonly {
    readonly name: string;
    readonly namespace_id: string;
    readonly simple: { readonly limit: number; readonly period: 10 | 60 };
  }[];
}

export const readConfig = async () => parse(await readFile(CONFIG, 'utf8')) as unknown as Config;

/**
 * Path of wrangler's program, to run with `process.execPath`. Its `bin` would start this as a child,
 * which outlives it if it is killed at once.
 */
export const WRANGLER = join(ROOT, 'node_modules/wrangler/wrangler-dist/cli.js');

/** Environment variables that keep wrangler quiet and offline. */
export const WRANGLER_ENV = {
  CI: 'true', // no prompts
  CLOUDFLARE_CF_FETCH_ENABLED: 'false', // no lookup of this machine's location
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'), // wrangler starts faster
  NODE_NO_WARNINGS: '1', // as its `bin` runs it
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
};

/**
 * Runs wrangler with the project's wrangler.toml, without showing its output and without writing
 * its log files.
 */
const run = (args: readonly string[], signal?: AbortSignal) =>
  promisify(execFile)(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...WRANGLER_ENV, WRANGLER_WRITE_LOGS: 'false', WRANGLER_LOG: 'log' },
    ...(signal && { signal }),
  });

/**
 * Runs wrangler with the project's wrangler.toml.
 *
 * @returns its stdout
 * @throws UserError with a short reason, without keys or hashes, if it fails or takes too long
 */
export async function runWrangler(args: readonly string[], timeoutMs = 60_000): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return stripVTControlCharacters((await run(args, signal)).stdout);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as Partial<ExecFileException>;
    throw new UserError(
      signal.aborted
        ? `wrangler took longer than ${timeoutMs / 1000} s`
        : reasonFrom(stdout + stderr),
    );
  }
}

const MAX_REASON = 200;

/** The message of Cloudflare's API, or else the first sentence of wrangler's error. */
function reasonFrom(output: string): string {
  const text = stripVTControlCharacters(output);
  if (text.includes('necessary to set a CLOUDFLARE_API_TOKEN'))
    return 'wrangler is not logged in: run "npx wrangler login" or set CLOUDFLARE_API_TOKEN';
  const environment = /No environment found in configuration.*/.exec(text)?.[0];
  const detail = /^.*\[code: \d+\]/m.exec(text)?.[0].trim();
  const error = /\[ERROR\]\s*(.+?)(\.\s|$)/m.exec(text)?.[1];
  const reason = environment ?? (detail && `Cloudflare: ${detail}`) ?? error ?? 'wrangler failed';
  return printable(withoutSecrets(reason)).replace(/\.$/, '').slice(0, MAX_REASON);
}

/**
 * Bundles a Worker as for a deployment, and builds its static files.
 *
 * @param entry the Worker's module, relative to the project's root
 * @param folder receives its module, `worker.js`, and the folder of its static files, `assets`
 * @throws UserError if the code has an error, which wrangler prints to stderr
 */
export async function bundleWorker(entry: string, folder: string): Promise<void> {
  const out = join(folder, 'out');
  const args = ['deploy', entry, '--dry-run', '--env=', `--outdir=${out}`];
  await run(args).catch((cause: ExecFileException) => {
    process.stderr.write(`${cause.stdout}${cause.stderr}`);
    throw new UserError('the Worker cannot be bundled: see the messages above', { cause });
  });

  await rename(join(out, `${basename(entry, '.ts')}.js`), join(folder, 'worker.js'));
  // The files are copied, since the next build replaces them.
  await cp(join(ROOT, (await readConfig()).assets.directory), join(folder, 'assets'), {
    recursive: true,
  });
}
