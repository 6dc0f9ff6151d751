import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { oncePerRun } from './once-per-run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

/**
 * Bundles a Worker as for a deployment.
 *
 * @param entry the Worker's module, relative to the project's root
 * @returns the folder of what wrangler has written, and the name of the Worker's module in it
 */
export async function bundle(entry: string): Promise<{ readonly folder: string; readonly worker: string }> {
  const folder = await oncePerRun(`bundle of ${entry.replaceAll('/', ' ')}`, async (outdir) => {
    await promisify(execFile)(process.execPath, [wrangler, 'deploy', entry, '--dry-run', '--outdir', outdir], {
      cwd: root,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    });
  });
  return { folder, worker: `${basename(entry, '.ts')}.js` };
}
