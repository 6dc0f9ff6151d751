import { once } from 'node:events';
import type { RunningWorker } from './worker.ts';

/** https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#method-getHeapUsage, in bytes */
interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
}

/**
 * The size of a Worker's live objects and buffers, in MiB. Takes a heap snapshot, because that collects garbage first;
 * `HeapProfiler.collectGarbage` does nothing in workerd.
 *
 * @param worker was started with its inspector, which serves one connection at a time
 */
export async function heldMemory({ inspectorUrl }: RunningWorker): Promise<number> {
  const socket = new WebSocket(inspectorUrl as URL);
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('the inspector closed the connection')));
  const messages = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }; // events have no id
    messages.get(id ?? 0)?.(result);
  });
  const call = (method: string) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const id = messages.size + 1;
    messages.set(id, resolve);
    socket.send(JSON.stringify({ id, method }));
    return Promise.race([promise, closed]);
  };
  try {
    await Promise.race([once(socket, 'open'), closed]);
    for (const method of ['Runtime.enable', 'HeapProfiler.enable', 'HeapProfiler.takeHeapSnapshot']) await call(method);
    const { usedSize, backingStorageSize } = (await call('Runtime.getHeapUsage')) as HeapUsage;
    return (usedSize + backingStorageSize) / 2 ** 20;
  } finally {
    closed.catch(() => {});
    socket.close();
  }
}
