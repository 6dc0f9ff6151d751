import type { Database } from './client.ts';
import { DatabaseError, failureOf } from './errors.ts';

/** @throws DatabaseError `unavailable` when the database does not answer within a few seconds, for whatever reason */
export async function ping(db: Database, signal: AbortSignal): Promise<void> {
  try {
    await db.rows({ text: 'select 1', params: [] }, { signal, patience: 'probe' });
  } catch (error) {
    throw new DatabaseError('unavailable', failureOf(error).message, error);
  }
}
