import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, UserError } from './command.ts';

/**
 * Finds a port of 127.0.0.1 that nothing listens on. @param port the one to check; by default, any.
 * @throws Error if it is in use
 */
export async function findFreePort(port = 0): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return found;
}

/** Checks the port before anything is started. @throws UserError if it is in use */
export async function checkPortIsFree(port: number): Promise<void> {
  await findFreePort(port).catch((cause: NodeJS.ErrnoException) => {
    const reason =
      cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${messageOf(cause)})`;
    throw new UserError(`port ${port} ${reason}: set PORT to another one`, { cause });
  });
}

const HEALTHY_WITHIN_MS = 60_000;
/** Short, because somebody is waiting. */
const PAUSE_MS = 100;

/**
 * Resolves when `/healthz` responds with 200, or when the service is being stopped.
 *
 * @throws UserError after a minute
 */
export async function whenHealthy(port: number, stop: AbortSignal): Promise<void> {
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  for (; !stop.aborted; await sleep(PAUSE_MS)) {
    const signal = AbortSignal.timeout(5_000);
    const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal }).catch(
      () => undefined,
    );

    await response?.body?.cancel();
    if (response?.ok) return;
    if (Date.now() > deadline)
      throw new UserError('the service does not reach its database: see the messages above');
  }
}
