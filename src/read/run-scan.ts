import { DatabaseError } from '../db/errors.ts';
import type { ApiError } from '../http/errors.ts';
import type { Lease } from '../limits/lease.ts';
import { scans } from '../limits/limits.ts';

/**
 * Runs a query that reads a whole selection, when another one may run.
 *
 * @param tooLarge the error for a result that exceeds the query's `maxBytes`
 * @throws LimitError if as many run as can, and none ends within 20 s
 */
export async function runScan<T>(
  lease: Lease,
  signal: AbortSignal,
  scan: () => Promise<T>,
  tooLarge?: () => ApiError,
): Promise<T> {
  const running = await lease.acquire(scans, 1, signal);
  try {
    return await scan();
  } catch (error) {
    throw tooLarge && error instanceof DatabaseError && error.kind === 'too-large' ? tooLarge() : error;
  } finally {
    running.release();
  }
}
