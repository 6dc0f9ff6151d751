import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WRANGLER, WRANGLER_ENV } from '../../tools/wrangler.ts';
import { oncePerRun } from './once-per-run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Bundles a Worker as for a deployment, once per test run.
 *
 * @param entry the Worker's module, relative to the project's root
 * @returns the folder that wrangler wrote to, and the file name of the Worker's module in it
 */
export async function bundle(entry: string): Promise<{ readonly folder: string; readonly worker: string }> {
  const folder = await oncePerRun(`bundle of ${entry.replaceAll('/', ' ')}`, async (outdir) => {
    await promisify(execFile)(process.execPath, [WRANGLER, 'deploy', entry, '--dry-run', '--outdir', outdir], {
      cwd: root,
      env: { ...process.env, ...WRANGLER_ENV },
    });
  });
  return { folder, worker: `${basename(entry, '.ts')}.js` };
}
