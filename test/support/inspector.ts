import { once } from 'node:events';

/**
 * Heap sizes as the inspector reports them, in bytes.
 * https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#method-getHeapUsage
 */
interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Measures a Worker's memory through its inspector. Measurements must not overlap. */
export class Inspector implements Disposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply; // or an event, which has no id
      if (reply.id !== undefined) this.#waiting.get(reply.id)?.(reply);
    });
    socket.addEventListener('close', () => {
      for (const resolve of this.#waiting.values()) resolve({ error: 'the connection was closed' });
    });
  }

  /** @param url of the Worker's inspector */
  static async open(url: URL): Promise<Inspector> {
    const socket = new WebSocket(url);
    await Promise.race([
      once(socket, 'open'),
      once(socket, 'close').then(() => Promise.reject(new Error('cannot connect to the inspector'))),
    ]);
    const inspector = new Inspector(socket);
    await inspector.#call('Runtime.enable');
    await inspector.#call('HeapProfiler.enable');
    return inspector;
  }

  /**
   * The size of a Worker's live objects and buffers. Takes a heap snapshot, because that collects garbage first;
   * `HeapProfiler.collectGarbage` does nothing in workerd.
   *
   * @returns MiB
   */
  async heldMemory(): Promise<number> {
    await this.#call('HeapProfiler.takeHeapSnapshot');
    const { usedSize, backingStorageSize } = (await this.#call('Runtime.getHeapUsage')) as HeapUsage;
    return (usedSize + backingStorageSize) / 2 ** 20;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  async #call(method: string): Promise<unknown> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error(`${method}: the connection was closed`);
    const id = ++this.#calls;
    const replied = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method }));
    const { result, error } = await replied;
    this.#waiting.delete(id);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }
}
