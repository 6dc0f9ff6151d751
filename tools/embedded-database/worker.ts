// The thread of the embedded Postgres, which blocks its thread while it runs a query.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { openPGlite } from './pglite.ts';
import { serve } from './session.ts';
import { Turnstile } from './turnstile.ts';

/** What the thread is started with. */
export interface WorkerInput {
  /** Where the database's files are, or are to be. */
  folder: string;
  /** What clients have to know. */
  password: string;
}

/** What the thread says: first the port of 127.0.0.1 it listens on, and null when it does so no more. */
export interface WorkerNews {
  port: number | null;
}

/** What the thread is told: to end when the last connection has gone, or now. */
export type WorkerOrder = 'close when unused' | 'close now';

const parent = parentPort;
if (!parent) throw new Error('this file is for a worker thread');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one who starts the thread says so
const { folder, password } = workerData as WorkerInput;

const backend = await openPGlite(folder);
const turnstile = new Turnstile();
const sockets = new Set<Socket>();
let unused = Promise.withResolvers<void>();
unused.resolve();

const server = createServer({ noDelay: true }, (socket) => {
  if (sockets.size === 0) unused = Promise.withResolvers();
  sockets.add(socket);
  socket.on('error', () => {}); // a client that died: its session ends like any other's
  socket.on('close', () => {
    sockets.delete(socket);
    if (sockets.size === 0) unused.resolve();
  });
  serve(socket, backend, turnstile, password)
    .catch(() => {})
    .finally(() => socket.destroySoon());
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('no port');

parent.on('message', (order: WorkerOrder) => {
  if (order === 'close now') for (const socket of sockets) socket.destroy();
  closing ??= close();
});
let closing: Promise<void> | undefined;
parent.postMessage({ port: address.port } satisfies WorkerNews);

async function close(): Promise<void> {
  while (sockets.size > 0) await unused.promise;
  server.close();
  parent?.postMessage({ port: null } satisfies WorkerNews);
  await turnstile.enter(); // what the last session has left undone is rolled back first
  await backend.close();
  parent?.close();
}
