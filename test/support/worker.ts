import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { bundle } from './bundle.ts';
import { oncePerRun } from './once-per-run.ts';

/**
 * A Worker in workerd, bundled as for a deployment. Not started with `wrangler dev`, whose proxies forward neither a
 * client's disconnect nor a broken transfer.
 */
export interface RunningWorker extends AsyncDisposable {
  readonly url: URL;
  /** Bypasses miniflare's entry Worker, which responds to some requests itself. */
  readonly directUrl: URL;
  /** Chrome DevTools protocol, if `inspector` was set. */
  readonly inspectorUrl: URL | undefined;
  /** The KV namespace of keys. */
  readonly keys: Awaited<ReturnType<Miniflare['getKVNamespace']>>;
  /** Everything it has logged. */
  readonly log: () => string;
}

/** The parts of wrangler.toml that the local runtime needs. (wrangler's types for it are in a package that is not installed.) */
interface WorkerConfig {
  readonly compatibility_date: string;
  readonly compatibility_flags: string[];
  readonly kv_namespaces: readonly { readonly binding: string }[];
  readonly ratelimits: readonly {
    readonly name: string;
    readonly namespace_id: string;
    readonly simple: { readonly limit: number; readonly period: 10 | 60 };
  }[];
}

/** Changes to wrangler.toml. */
export interface WorkerOptions {
  /** Variables and secrets. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Requests per period, by the binding's name of a rate limit. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
  /** Whether to start the inspector. */
  readonly inspector?: boolean | undefined;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** @param entry the Worker's module, relative to the project's root; its bindings are those of wrangler.toml */
export async function startWorker(
  entry: string,
  { vars = {}, limits = {}, inspector = false }: WorkerOptions,
): Promise<RunningWorker> {
  const { folder, worker } = await bundle(entry);
  const config = await readConfig();
  let log = '';
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: config.compatibility_flags,
      rootPath: folder,
      modules: await modulesIn(folder, worker),
      bindings: vars,
      kvNamespaces: config.kv_namespaces.map(({ binding }) => binding),
      ratelimits: Object.fromEntries(
        config.ratelimits.map(({ name, namespace_id, simple }) => [
          name,
          { namespace_id, simple: { limit: limits[name] ?? simple.limit, period: simple.period } },
        ]),
      ),
      handleStructuredLogs: ({ message }) => {
        log += `${message}\n`;
      },
      host: '127.0.0.1',
      port: 0,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      ...(inspector ? { inspectorPort: 0 } : {}),
      cf: false,
    }),
  );
  const url = await miniflare.ready;
  const keys = await miniflare.getKVNamespace('API_KEYS');
  const directUrl = await miniflare.unsafeGetDirectURL();
  // miniflare's name for the only Worker
  const inspectorUrl = inspector ? new URL('./core:user:', await miniflare.getInspectorURL()) : undefined;
  return { url, directUrl, inspectorUrl, keys, log: () => log, [Symbol.asyncDispose]: () => miniflare.dispose() };
}

/** The files that a dry run has written: the Worker, and those that it imports as text (`rules` in wrangler.toml). */
async function modulesIn(folder: string, worker: string) {
  const names = await readdir(folder);
  const texts = names.filter((name) => /\.(?:html|css|svg|mjs)$/.test(name));
  return [
    { type: 'ESModule' as const, path: join(folder, worker) },
    ...texts.map((name) => ({ type: 'Text' as const, path: join(folder, name) })),
  ];
}

/** Reads wrangler.toml once per run: importing wrangler takes more than a second. */
async function readConfig(): Promise<WorkerConfig> {
  const folder = await oncePerRun('wrangler configuration', async (draft) => {
    const { unstable_readConfig } = await import('wrangler');
    const config = unstable_readConfig({ config: join(root, 'wrangler.toml') });
    await writeFile(join(draft, 'config.json'), JSON.stringify(config));
  });
  return JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as WorkerConfig;
}
