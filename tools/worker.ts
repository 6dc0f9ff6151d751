import { readFile } from 'node:fs/promises';
import { Miniflare, type V4SharedOptions, type V4WorkerOptions, convertV4MiniflareOptions } from 'miniflare';
import { bundleIn, readAssets } from './wrangler.ts';

/** Variables, changes to wrangler.toml, and options of miniflare. */
export interface WorkerOptions extends V4SharedOptions, Pick<V4WorkerOptions, 'unsafeDirectSockets'> {
  /** Variables and secrets. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** Requests per period, by the binding's name of a rate limit. By default those of wrangler.toml. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
}

/** The parts of an upload's metadata that the local runtime needs. */
interface Metadata {
  readonly compatibility_date: string;
  readonly compatibility_flags: string[];
  readonly bindings: readonly Binding[];
}

type Binding =
  | { readonly type: 'inherit'; readonly name: string } // a secret
  | { readonly type: 'kv_namespace'; readonly name: string; readonly namespace_id: string }
  | {
      readonly type: 'ratelimit';
      readonly name: string;
      readonly namespace_id: string;
      readonly simple: { readonly limit: number; readonly period: 10 | 60 };
    };

/** The content type of the Worker in an upload, which also has a source map. */
const MODULE = 'application/javascript+module';

/**
 * Starts a Worker in workerd, on 127.0.0.1. `wrangler dev` is not used, because it lets everyone on this machine read and write the KV and
 * debug the Worker, and its proxies forward neither a client's disconnect nor a broken transfer.
 *
 * @param folder in which `bundleWorker` has written a bundle
 * @param options by default, miniflare chooses a port and keeps the KV in a temporary folder
 */
export async function startWorker(
  folder: string,
  { vars = {}, limits = {}, ...options }: WorkerOptions,
): Promise<Miniflare> {
  const { worker, assets } = bundleIn(folder);
  const [{ metadata, modules }, { binding: assetsBinding, run_worker_first }] = await Promise.all([
    readBundle(worker),
    readAssets(),
  ]);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      ...options,
      compatibilityDate: metadata.compatibility_date,
      compatibilityFlags: metadata.compatibility_flags,
      modules,
      bindings: vars,
      assets: {
        directory: assets,
        binding: assetsBinding,
        run_worker_first,
        routerConfig: { has_user_worker: true },
      },
      kvNamespaces: Object.fromEntries(
        metadata.bindings.flatMap((binding) =>
          binding.type === 'kv_namespace' ? [[binding.name, binding.namespace_id]] : [],
        ),
      ),
      ratelimits: Object.fromEntries(
        metadata.bindings.flatMap((binding) => {
          if (binding.type !== 'ratelimit') return [];
          const { name, namespace_id, simple } = binding;
          return [[name, { namespace_id, simple: { ...simple, limit: limits[name] ?? simple.limit } }]];
        }),
      ),
    }),
  );
  await miniflare.ready;
  return miniflare;
}

async function readBundle(file: string) {
  const body = await readFile(file);
  const boundary = body.toString('latin1', 2, body.indexOf('\r\n'));
  const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  const form = await new Response(body, { headers }).formData();
  const modules = [];
  for (const [path, part] of form) {
    if (typeof part !== 'string' && part.type === MODULE)
      modules.push({ type: 'ESModule' as const, path, contents: await part.text() });
  }
  return { metadata: JSON.parse(form.get('metadata') as string) as Metadata, modules };
}
