/** A request to stop, from the terminal or from whoever started us. */
export interface Stop {
  readonly promise: Promise<void>;
  readonly requested: boolean;
}

/** Listens for Ctrl-C, SIGTERM (which npm passes on) and a closed terminal. */
export function untilStopped(): Stop {
  let requested = false;
  const promise = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        requested = true;
        resolve();
      });
    }
  });
  return {
    promise,
    get requested() {
      return requested;
    },
  };
}
