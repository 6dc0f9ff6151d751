/*
 * The service's Worker, controlled by request headers:
 *
 * - `Test-Key-Cache: <name>` applies a fault of `cacheFaults` to the key cache;
 * - `Test-Trial: <name>` marks the request's SQL requests for the fault proxy's `watch`;
 * - `Test-Retry-Seconds: <n>` replaces EXPORT_RETRY_SECONDS;
 * - `Test-Clock-Ahead: <milliseconds>` sets the clock ahead of the real time, `Test-Clock:
 *   <milliseconds since 1970>` to a time, for this request and all others, those that are running
 *   included; the clock keeps running.
 *
 * A request with one of these headers does not reach the service:
 *
 * - `Test-Clock-Forward: <milliseconds>` moves the clock;
 * - `Test-Longest-Timeout: <milliseconds>`: from now on, timers that would take longer do not fire;
 * - `Test-Received: true` returns how many requests have reached the service.
 */
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';

let ahead = 0;
let received = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

const HOUR_MS = 3_600_000;
let longestTimeout = Infinity;
const startTimer = setTimeout;
globalThis.setTimeout = ((work: () => void, ms: number, ...values: unknown[]) => {
  const delay = ms > longestTimeout ? Math.max(ms, HOUR_MS) : ms;
  return startTimer(work, delay, ...(values as []));
}) as typeof setTimeout;

const SLOW_MS = 300;

/** What the key cache does instead of its work, or before it. */
const cacheFaults: Record<string, (work: () => Promise<unknown>) => Promise<unknown>> = {
  rejects: () => Promise.reject(new Error('KV is having a bad day')),
  hangs: () => new Promise(() => {}),
  'is slow': async (work) => {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    return await work();
  },
};

function faulty(keys: KVNamespace, name: string | null): KVNamespace {
  const fault = cacheFaults[name ?? ''];
  if (!fault) return keys;
  const get = (hash: string, options: { type: 'json' }) => fault(() => keys.get(hash, options));
  const put = (hash: string, value: string, options: KVNamespacePutOptions) =>
    fault(() => keys.put(hash, value, options));
  return { get, put } as KVNamespace;
}

function marked(endpointHeaders: string | undefined, trial: string | null): string {
  return JSON.stringify({
    ...(JSON.parse(endpointHeaders ?? '{}') as object),
    ...(trial !== null && { trial }),
  });
}

export default {
  fetch(request, env, context) {
    const { headers } = request;
    const forward = headers.get('Test-Clock-Forward');
    if (forward !== null) {
      ahead += Number(forward);
      return new Response();
    }

    const longest = headers.get('Test-Longest-Timeout');
    if (longest !== null) {
      longestTimeout = Number(longest);
      return new Response();
    }

    if (headers.has('Test-Received')) return new Response(String(received));
    received++;
    const time = headers.get('Test-Clock');
    ahead = time === null ? Number(headers.get('Test-Clock-Ahead') ?? ahead) : Number(time) - now();
    return worker.fetch(
      request,
      {
        ...env,
        API_KEYS: faulty(env.API_KEYS, headers.get('Test-Key-Cache')),
        EXPORT_RETRY_SECONDS: headers.get('Test-Retry-Seconds') ?? env.EXPORT_RETRY_SECONDS ?? '',
        SQL_ENDPOINT_HEADERS: marked(env.SQL_ENDPOINT_HEADERS, headers.get('Test-Trial')),
      },
      context,
    );
  },
} satisfies ExportedHandler<Env>;
