import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../command.ts';
import type { Stop } from './signals.ts';

/** wrangler would take another port without a word. @throws UserError when something listens there already */
export async function checkPortIsFree(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'is in use' : String(cause);
    throw new UserError(`port ${port} ${reason}: set PORT to another one`, { cause });
  }
  server.close();
  await once(server, 'close');
}

/** Resolves when the service says that it and its database are well, or when it is being stopped. */
export async function whenHealthy(port: number, stop: Stop): Promise<void> {
  for (let pauseMs = 100; !stop.requested; pauseMs = Math.min(2 * pauseMs, 2_000)) {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await sleep(pauseMs);
  }
}
