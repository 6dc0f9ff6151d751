import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Miniflare,
  type V4SharedOptions,
  type V4WorkerOptions,
  convertV4MiniflareOptions,
} from 'miniflare';
import { readConfig } from './wrangler.ts';

/** Variables, changes to wrangler.toml, and options of miniflare. */
export interface WorkerOptions
  extends V4SharedOptions, Pick<V4WorkerOptions, 'unsafeDirectSockets'> {
  /** Variables and secrets. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /**
   * Requests per period, by the binding's name of a rate limit. By default those of wrangler.toml.
   */
  readonly limits?: Readonly<Record<string, number>> | undefined;
}

/**
 * Starts a Worker in workerd, on 127.0.0.1. `wrangler dev` is not used, because it lets everyone on
 * this machine read and write the KV and debug the Worker, and its proxies forward neither a
 * client's disconnect nor a broken transfer.
 *
 * @param folder in which `bundleWorker` has written a bundle
 * @param options by default, miniflare chooses a port and keeps the KV in a temporary folder
 */
export async function startWorker(
  folder: string,
  { vars = {}, limits = {}, ...options }: WorkerOptions,
): Promise<Miniflare> {
  const { assets, kv_namespaces: namespaces, ratelimits, ...config } = await readConfig();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      ...options,
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: config.compatibility_flags,
      modules: [
        {
          type: 'ESModule',
          path: 'worker.js',
          contents: await readFile(join(folder, 'worker.js'), 'utf8'),
        },
      ],
      bindings: vars,
      assets: {
        directory: join(folder, 'assets'),
        binding: assets.binding,
        run_worker_first: assets.run_worker_first,
        routerConfig: { has_user_worker: true },
      },
      kvNamespaces: Object.fromEntries(namespaces.map(({ binding, id }) => [binding, id])),
      ratelimits: Object.fromEntries(
        ratelimits.map(({ name, namespace_id, simple }) => [
          name,
          { namespace_id, simple: { ...simple, limit: limits[name] ?? simple.limit } },
        ]),
      ),
    }),
  );

  await miniflare.ready;
  return miniflare;
}
