const PARENT_CHECK_MS = 250;
/** `npm start` promises to stop within five seconds. */
const DEADLINE_MS = 4_500;

/**
 * Listens for Ctrl-C, SIGTERM and a closed terminal. npm does not always forward a signal, so the end of a parent npm counts as a
 * request to stop too. After {@link DEADLINE_MS} the process exits, whatever it is waiting for.
 *
 * @returns a signal that the request aborts
 */
export function untilStopped(): AbortSignal {
  const request = new AbortController();
  const stop = () => {
    if (request.signal.aborted) return;
    request.abort();
    setTimeout(() => process.exit(1), DEADLINE_MS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (['start', 'dev'].includes(process.env['npm_lifecycle_event'] ?? '')) {
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
  }
  return request.signal;
}
