import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Miniflare, type V4SharedOptions, type V4WorkerOptions, convertV4MiniflareOptions } from 'miniflare';

/** Variables, changes to wrangler.toml, and options of miniflare. */
export interface WorkerOptions extends V4SharedOptions, Pick<V4WorkerOptions, 'unsafeDirectSockets'> {
  /** Variables and secrets. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** Requests per period, by the binding's name of a rate limit. By default those of wrangler.toml. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
}

/** The path of wrangler.toml. */
export const CONFIG = fileURLToPath(new URL('../wrangler.toml', import.meta.url));

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

/** By content type. The upload also has a source map. */
const MODULE_TYPES: Readonly<Record<string, 'ESModule' | 'Text'>> = {
  'application/javascript+module': 'ESModule',
  'text/plain': 'Text',
};

/**
 * Starts a Worker in workerd, on 127.0.0.1. Not with `wrangler dev`, which lets everyone on this machine read and write the KV and
 * debug the Worker, and whose proxies forward neither a client's disconnect nor a broken transfer.
 *
 * @param bundle the file that `bundleWorker` has written
 * @param options by default, miniflare chooses a port and keeps the KV in a temporary folder
 */
export async function startWorker(
  bundle: string,
  { vars = {}, limits = {}, ...options }: WorkerOptions,
): Promise<Miniflare> {
  const { metadata, modules } = await readBundle(bundle);
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

/** The first module is the Worker; the others are files that it imports as text (`rules` in wrangler.toml). */
async function readBundle(bundle: string) {
  const body = await readFile(bundle);
  const boundary = body.toString('latin1', 2, body.indexOf('\r\n'));
  const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  const form = await new Response(body, { headers }).formData();
  const modules = [];
  for (const [path, file] of form) {
    const type = typeof file === 'string' ? undefined : MODULE_TYPES[file.type];
    if (type) modules.push({ type, path, contents: await (file as File).text() });
  }
  return { metadata: JSON.parse(form.get('metadata') as string) as Metadata, modules };
}
