import { once } from 'node:events';
import { spawnKilledWithParent } from '../kill-with-parent.ts';
import { findFreePort } from '../ports.ts';
import type { Programs } from './programs.ts';

/** A running Postgres server that this process has started. It does not outlive this process. */
export type Server = Awaited<ReturnType<typeof startServer>>;

export interface ServerOptions extends Pick<Programs, 'postgres' | 'user'> {
  /** The data directory, an absolute path. */
  readonly data: string;
  /** Settings as in postgresql.conf. Without `port`, a free port is used. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The signal sent to the server if this process is killed. */
  readonly onParentExit: 'INT' | 'QUIT';
}

/**
 * Only local programs with the password can connect. The log is parsed, so its language and time
 * zone are fixed.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  lc_messages: 'C',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

const ATTEMPTS = 5;
const LOG_KEPT = 10_000;

/** The server did not start. The message is what it logged. */
export class StartError extends Error {
  override name = 'StartError';
}

/**
 * Starts a server and waits until it accepts connections.
 *
 * @throws StartError
 */
export async function startServer(options: ServerOptions) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart({
        ...options,
        settings: { port: String(await findFreePort()), ...options.settings },
      });
    } catch (error) {
      // Another process may take the free port before the server does.
      const isTaken = error instanceof StartError && error.message.includes('could not bind');
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function tryToStart({ postgres, data, user, settings, onParentExit }: ServerOptions) {
  const all: Record<string, string> = { ...SETTINGS, ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawnKilledWithParent(postgres, ['-D', data, ...args], {
    ...user,
    cwd: data, // the user may be unable to read the current directory
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // Ctrl-C in the terminal is for this process, which then stops the server
    onParentExit,
  });

  const ready = Promise.withResolvers<void>();
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_KEPT);
    if (log.includes('ready to accept connections')) ready.resolve();
  });

  child.on('error', (error) => ready.reject(new StartError(error.message)));
  child.on('close', () => ready.reject(new StartError(log.trim() || 'it ended without a message')));
  const ended = once(child, 'exit').then(() => log.trim());
  ended.catch(() => {}); // if it cannot be started, `ready` rejects
  await ready.promise;
  return {
    /** Process id of the postmaster. */
    pid: child.pid ?? 0,
    /** The port on 127.0.0.1. */
    port: Number(all['port']),
    /** Resolves when the server has ended, with the end of its log. */
    ended,
    /**
     * Ends the server and waits for it. SIGINT disconnects all clients, SIGQUIT also leaves
     * recovery to the next start.
     */
    async stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
      child.kill(signal);
      await ended;
    },
  };
}
