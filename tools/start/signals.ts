/** A request to stop, from the terminal or the parent process. */
export interface Stop {
  readonly promise: Promise<void>;
  readonly requested: boolean;
  /** Aborted by the request. */
  readonly signal: AbortSignal;
}

const PARENT_CHECK_MS = 250;
/** `npm start` promises to stop within five seconds. */
const DEADLINE_MS = 4_500;

/**
 * Listens for Ctrl-C, SIGTERM and a closed terminal. npm does not always forward a signal, so the end of a parent npm counts as a
 * request too. After {@link DEADLINE_MS} the process exits, whatever it is waiting for.
 */
export function untilStopped(): Stop {
  const request = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => {
    if (request.signal.aborted) return;
    request.abort();
    setTimeout(() => process.exit(1), DEADLINE_MS).unref();
    resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (['start', 'dev'].includes(process.env['npm_lifecycle_event'] ?? '')) {
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
  }
  return {
    promise,
    get requested() {
      return request.signal.aborted;
    },
    signal: request.signal,
  };
}
