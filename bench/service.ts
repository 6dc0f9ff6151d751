import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { BenchAccount } from './data.ts';
import { type Run, timed } from './peers.ts';
import { startWorker } from '../test/support/worker.ts';
import { workerdStartedBy } from './process-stats.ts';

/**
 * The service to measure: the Worker in workerd, and the SQL-over-HTTP endpoint in another process.
 */
export interface BenchService extends AsyncDisposable {
  /** Process id of workerd. */
  readonly workerd: number;
  /**
   * Reads and discards a response, or its first bytes. @param path relative to the API's base path
   */
  read(
    path: string,
    account: BenchAccount,
    until?: 'end' | 'first byte',
    headers?: Readonly<Record<string, string>>,
  ): Promise<Run & { readonly firstByteSeconds: number }>;
  /** Adds a delay, in milliseconds, to every later SQL request. */
  readonly delay: (ms: number) => void;
  /** Everything the Worker has logged. */
  readonly log: () => string;
  /** Opens a response and reads nothing of it. */
  open(path: string, key: string): Promise<IncomingMessage>;
}

export async function startService(
  databaseUrl: string,
  { entry = 'src/worker.ts' }: { entry?: string } = {},
): Promise<BenchService> {
  await using cleanUp = new AsyncDisposableStack();
  const token = randomBytes(24).toString('hex');
  const options = JSON.stringify({ database: databaseUrl, token });
  const gateway = fork(new URL('gateway-process.ts', import.meta.url), [options]);
  cleanUp.defer(async () => {
    gateway.disconnect();
    await once(gateway, 'exit');
  });
  const [settings] = (await once(gateway, 'message')) as [Record<string, string>];

  const { started: worker, workerd } = await workerdStartedBy(() =>
    startWorker(entry, {
      vars: {
        ...settings,
        SQL_ENDPOINT_HEADERS: JSON.stringify({ Authorization: `Bearer ${token}` }),
      },
    }),
  );
  cleanUp.use(worker);

  const running = cleanUp.move();
  return {
    workerd,
    log: worker.log,
    delay: (ms) => void gateway.send(ms),
    open: async (path, key) => {
      const headers = { Authorization: `Bearer ${key}` };
      const request = get(`${worker.url.origin}/api/v1${path}`, { agent: false, headers });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response.on('error', () => {}).pause();
    },
    read: (path, ...rest) => readResponse(`${worker.url.origin}/api/v1${path}`, ...rest),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function readResponse(
  url: string,
  account: BenchAccount,
  until: 'end' | 'first byte' = 'end',
  headers: Readonly<Record<string, string>> = {},
): Promise<Run & { firstByteSeconds: number }> {
  const start = performance.now();
  let firstByteSeconds = 0;
  const run = await timed(async (sink) => {
    const request = get(url, { headers: { Authorization: `Bearer ${account.key}`, ...headers } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`${url}: status ${response.statusCode}`);
    if (until === 'first byte') {
      await once(response, 'readable');
      firstByteSeconds = (performance.now() - start) / 1000;
      response.destroy();
    } else {
      await pipeline(response, sink);
    }
  });
  return { ...run, firstByteSeconds };
}
