// The service's Worker with a cache of keys that fails as a request says: `Test-Key-Cache: rejects | hangs | is slow | lies`.
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';

const SLOW_MS = 300;

/** What comes instead of an answer, or before it. */
const faults: Record<string, (work: () => Promise<unknown>) => Promise<unknown>> = {
  rejects: () => Promise.reject(new Error('KV is having a bad day')),
  hangs: () => new Promise(() => {}),
  'is slow': async (work) => {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    return await work();
  },
  lies: () => Promise.resolve({ v: 1, accountId: 'nobody’s' }),
};

function faulty(keys: KVNamespace, name: string | null): KVNamespace {
  const fault = faults[name ?? ''];
  if (!fault) return keys;
  const get = (hash: string, options: { type: 'json' }) => fault(() => keys.get(hash, options));
  const put = (hash: string, value: string, options: KVNamespacePutOptions) =>
    fault(() => keys.put(hash, value, options));
  return { get, put } as KVNamespace;
}

export default {
  fetch(request, env, context) {
    return worker.fetch(
      request,
      { ...env, API_KEYS: faulty(env.API_KEYS, request.headers.get('Test-Key-Cache')) },
      context,
    );
  },
} satisfies ExportedHandler<Env>;
