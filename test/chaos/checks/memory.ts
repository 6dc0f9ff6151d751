import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningWorker } from '../../support/worker.ts';
import type { Context } from '../context.ts';

/**
 * Allowed growth of held memory, in MiB: caches of keys and of compiled code. One page of a file
 * would be 4.
 */
const MAX_GROWTH = 3;

/** https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#method-getHeapUsage, in bytes */
interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
}

/**
 * A heap snapshot collects garbage first; `HeapProfiler.collectGarbage` does nothing in workerd.
 */
const CALLS = [
  'Runtime.enable',
  'HeapProfiler.enable',
  'HeapProfiler.takeHeapSnapshot',
  'Runtime.getHeapUsage',
];

/**
 * The size of a Worker's live objects and buffers, in MiB.
 *
 * @param worker was started with its inspector, which serves one connection at a time
 */
export async function heldMemory({ inspectorUrl }: RunningWorker): Promise<number> {
  const socket = new WebSocket(inspectorUrl as URL);
  const { promise: usage, resolve, reject } = Promise.withResolvers<HeapUsage>();
  socket.addEventListener('close', () => reject(new Error('the inspector closed the connection')));
  socket.addEventListener('message', ({ data }) => {
    // events have no id
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: HeapUsage };
    if (id === CALLS.length) resolve(result);
  });
  socket.addEventListener('open', () => {
    for (const [i, method] of CALLS.entries()) socket.send(JSON.stringify({ id: i + 1, method }));
  });
  const { usedSize, backingStorageSize } = await usage;
  socket.close();
  await once(socket, 'close');
  return (usedSize + backingStorageSize) / 2 ** 20;
}

/**
 * Compares held memory with that before the load. Waits a few seconds: pages of disconnected
 * readers are freed late.
 */
export async function checkMemory({ stack, tally }: Context, idle: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const growth = (await heldMemory(stack.worker)) - idle;
    const found = `the Worker holds ${growth.toFixed(1)} MiB more than when idle`;
    if (growth <= MAX_GROWTH) return tally.pass(`memory: ${found}`);
    if (tries === 5) return tally.fail(`${found}; ${MAX_GROWTH} are allowed`);
    await sleep(1000);
  }
}
