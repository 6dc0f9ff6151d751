/** Longer than the gateway takes to notice that a connection was lost. */
const NOTICED_MS = 1_000;

let running = 0;
let lastEnd = -Infinity;

/** Does something to the database that all requests can notice. */
export async function causeOutage(cause: () => Promise<unknown>): Promise<void> {
  running++;
  try {
    await cause();
  } finally {
    running--;
    lastEnd = performance.now();
  }
}

/** Whether requests could notice an outage since a time of `performance.now()`. */
export const hadOutage = (since: number): boolean => running > 0 || lastEnd + NOTICED_MS > since;
