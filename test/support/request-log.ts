import { expect } from 'vitest';
import type { RunningWorker } from './worker.ts';

/**
 * The log line of a request, with the members that tests read by name. docs/operations.md describes
 * them all.
 */
export type RequestLine = Readonly<
  Record<'requestId' | 'end', string> &
    Record<'route' | 'keyCache', string | null> &
    Record<'rows' | 'bytes' | 'durationMs' | 'sqlRequests', number>
>;

/** All log lines of one event. */
export function eventsIn(worker: RunningWorker, event: string): Record<string, unknown>[] {
  return worker
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['event'] === event);
}

/** The log lines of all requests. */
export const linesIn = (worker: RunningWorker) =>
  eventsIn(worker, 'request') as unknown as RequestLine[];

/**
 * Runs `work`, which sends one request, and returns the log line of that request.
 *
 * @param worker runs test/support/worker-under-faults.ts
 * @throws if there is no line, or more than one
 */
export async function lineOf<T>(worker: RunningWorker, work: () => Promise<T>) {
  const before = await untilLogged(worker);
  const result = await work();
  await untilLogged(worker);
  const lines = linesIn(worker).slice(before);
  expect(lines).toHaveLength(1);
  return { line: lines[0] as RequestLine, result };
}

/** Waits until each request that the Worker has received is logged. @returns their number */
export async function untilLogged(worker: RunningWorker): Promise<number> {
  const received = Number(
    await (await fetch(worker.url, { headers: { 'Test-Received': 'true' } })).text(),
  );

  await expect.poll(() => linesIn(worker).length).toBe(received);
  return received;
}
