/** A request to stop, from the terminal or from whoever started us. */
export interface Stop {
  readonly promise: Promise<void>;
  readonly requested: boolean;
  /** Aborted when it is requested. */
  readonly signal: AbortSignal;
}

const PARENT_CHECK_MS = 250;
/** The service promises to be gone within five seconds, whatever it was waiting for. */
const DEADLINE_MS = 4_500;

/**
 * Listens for Ctrl-C, SIGTERM and a closed terminal. npm tells its child of a signal in some cases and just dies in
 * others: when npm started us, its end is taken for a request too. After {@link DEADLINE_MS} the process ends, ready or not.
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
  if (process.env['npm_lifecycle_event'] === 'start') {
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
