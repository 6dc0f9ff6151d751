import { once } from 'node:events';

/**
 * What the inspector says of a heap, in bytes.
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

/** A look into a Worker's memory: one at a time. */
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
      for (const end of this.#waiting.values()) end({ error: 'the connection has ended' });
    });
  }

  /** @param url of the Worker's inspector */
  static async open(url: URL): Promise<Inspector> {
    const socket = new WebSocket(url);
    await Promise.race([
      once(socket, 'open'),
      once(socket, 'close').then(() => Promise.reject(new Error('no inspector'))),
    ]);
    const inspector = new Inspector(socket);
    await inspector.#call('Runtime.enable');
    await inspector.#call('HeapProfiler.enable');
    return inspector;
  }

  /**
   * What a Worker holds: its objects and the bytes of its buffers, without garbage. A heap snapshot collects that first
   * (`HeapProfiler.collectGarbage` does nothing in workerd).
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
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error(`${method}: the connection has ended`);
    const id = ++this.#calls;
    const replied = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method }));
    const { result, error } = await replied;
    this.#waiting.delete(id);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }
}
