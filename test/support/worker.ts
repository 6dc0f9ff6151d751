import { startWorker as startBundledWorker, type WorkerOptions } from '../../tools/worker.ts';
import { bundleWorker } from '../../tools/wrangler.ts';
import { oncePerRun } from './once-per-run.ts';

/** A Worker in workerd, bundled as for a deployment. */
export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

/**
 * @param entry the Worker's module, relative to the project's root; its bindings are those of
 * wrangler.toml
 * @param options.inspector whether to start the inspector
 */
export async function startWorker(
  entry: string,
  {
    inspector = false,
    ...options
  }: Pick<WorkerOptions, 'vars' | 'limits'> & { readonly inspector?: boolean | undefined },
) {
  const folder = await oncePerRun(`bundle of ${entry.replaceAll('/', ' ')}`, (draft) =>
    bundleWorker(entry, draft),
  );

  let log = '';
  const miniflare = await startBundledWorker(folder, {
    ...options,
    handleStructuredLogs: ({ message }) => {
      log += `${message}\n`;
    },
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    ...(inspector ? { inspectorPort: 0 } : {}),
  });

  return {
    url: await miniflare.ready,
    /** The URL that bypasses miniflare's entry Worker, which responds to some requests itself. */
    directUrl: await miniflare.unsafeGetDirectURL(),
    /**
     * The URL of the Chrome DevTools protocol, if `inspector` was set. It has miniflare's name for
     * the only Worker.
     */
    inspectorUrl: inspector
      ? new URL('./core:user:', await miniflare.getInspectorURL())
      : undefined,
    /** The KV namespace of keys. */
    keys: await miniflare.getKVNamespace('API_KEYS'),
    /** Everything it has logged. */
    log: () => log,
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}
