/** A request to stop, from the terminal or from whoever started us. */
export interface Stop {
  readonly promise: Promise<void>;
  readonly requested: boolean;
}

const PARENT_CHECK_MS = 500;

/**
 * Listens for Ctrl-C, SIGTERM and a closed terminal. npm may die without telling its child, by SIGKILL for one: when it
 * was npm that started us, its end is ours too.
 */
export function untilStopped(): Stop {
  let requested = false;
  const promise = new Promise<void>((resolve) => {
    const stop = () => {
      requested = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    if (process.env['npm_lifecycle_event']) {
      const parent = process.ppid;
      setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
    }
  });
  return {
    promise,
    get requested() {
      return requested;
    },
  };
}
