// The service's Worker, whose requests can say what goes wrong with them:
// `Test-Key-Cache: <name>` makes the cache of keys do what `caches` says; `Test-Trial: <name>` marks what the request asks
// the database, for the fault proxy (its `watch`).
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';

const SLOW_MS = 300;

/** With an entry as if it had been checked now. */
const says = (entry: object | string) => () =>
  Promise.resolve(typeof entry === 'string' ? entry : { ...entry, checked: Date.now() });

const NOBODY = { keyId: 'nobody’s', accountId: 'nobody’s' };

/** What the cache of keys does instead of its work, or before it. Entries are described in src/auth/key-cache.ts. */
const caches: Record<string, (work: () => Promise<unknown>) => Promise<unknown>> = {
  rejects: () => Promise.reject(new Error('KV is having a bad day')),
  hangs: () => new Promise(() => {}),
  'is slow': async (work) => {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    return await work();
  },
  'holds another form of entry': says({ v: 1, ...NOBODY, email: 'nobody@example.org', expires: null }),
  'holds half an entry': says({ v: 2, keyId: NOBODY.keyId }),
  'holds a text': says('nobody’s'),
};

function faulty(keys: KVNamespace, name: string | null): KVNamespace {
  const fault = caches[name ?? ''];
  if (!fault) return keys;
  const get = (hash: string, options: { type: 'json' }) => fault(() => keys.get(hash, options));
  const put = (hash: string, value: string, options: KVNamespacePutOptions) =>
    fault(() => keys.put(hash, value, options));
  return { get, put } as KVNamespace;
}

function marked(databaseUrl: string, trial: string | null): string {
  return trial === null ? databaseUrl : `${databaseUrl}?application_name=${trial}`;
}

export default {
  fetch(request, env, context) {
    const { headers } = request;
    return worker.fetch(
      request,
      {
        ...env,
        API_KEYS: faulty(env.API_KEYS, headers.get('Test-Key-Cache')),
        DATABASE_URL: marked(env.DATABASE_URL, headers.get('Test-Trial')),
      },
      context,
    );
  },
} satisfies ExportedHandler<Env>;
