import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';

/**
 * A Worker in workerd, bundled as for a deployment. workerd listens and fetches by itself: wrangler's own servers put
 * proxies on both sides, which neither pass on that a client has left nor that an answer broke off.
 */
export interface RunningWorker extends AsyncDisposable {
  readonly url: URL;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

/**
 * @param entry the Worker's module, relative to the project's root
 * @param bindings its variables and secrets
 */
export async function startWorker(entry: string, bindings: Record<string, string>): Promise<RunningWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-worker-'));
  try {
    const args = [wrangler, 'deploy', entry, '--dry-run', '--outdir', folder];
    await promisify(execFile)(process.execPath, args, {
      cwd: root,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    });
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        compatibilityDate: '2026-10-23',
        compatibilityFlags: ['enable_request_signal'],
        modules: true,
        rootPath: folder,
        scriptPath: `${basename(entry, '.ts')}.js`,
        bindings,
        kvNamespaces: ['API_KEYS'],
        host: '127.0.0.1',
        port: 0,
        cf: false,
      }),
    );
    const url = await miniflare.ready;
    return { url, [Symbol.asyncDispose]: () => miniflare.dispose() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
