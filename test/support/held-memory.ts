import { once } from 'node:events';

/** What the inspector says of a heap, in bytes. https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#method-getHeapUsage */
interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
}

/**
 * What a Worker holds: its objects and the bytes of its buffers, without garbage. A heap snapshot collects that first
 * (`HeapProfiler.collectGarbage` does nothing in workerd).
 *
 * @returns MiB
 */
export async function heldMemory(inspector: URL): Promise<number> {
  const socket = new WebSocket(inspector);
  await once(socket, 'open');
  let calls = 0;
  const call = (method: string) =>
    new Promise<unknown>((resolve, reject) => {
      const id = ++calls;
      socket.addEventListener('message', ({ data }) => {
        const {
          id: answered,
          result,
          error,
        } = JSON.parse(String(data)) as { id?: number; result: unknown; error: unknown };
        if (answered !== id) return;
        if (error) reject(new Error(`${method}: ${JSON.stringify(error)}`));
        else resolve(result);
      });
      socket.addEventListener('close', () => reject(new Error('the inspector has gone')));
      socket.send(JSON.stringify({ id, method }));
    });
  try {
    await call('Runtime.enable');
    await call('HeapProfiler.enable');
    await call('HeapProfiler.takeHeapSnapshot');
    const { usedSize, backingStorageSize } = (await call('Runtime.getHeapUsage')) as HeapUsage;
    return (usedSize + backingStorageSize) / 2 ** 20;
  } finally {
    socket.close();
  }
}
