import type { Database } from './client.ts';
import { DatabaseError, failureOf } from './errors.ts';

/** @throws DatabaseError `unavailable` if the database does not respond within a few seconds, for whatever reason */
export async function ping(db: Database, signal: AbortSignal): Promise<void> {
  try {
    await db.rows({ text: 'select 1', params: [] }, { signal, retry: 'probe' });
  } catch (error) {
    throw new DatabaseError('unavailable', failureOf(error).message, error);
  }
}
