import type { Connection } from './client.ts';
import { DatabaseError, failureOf } from './errors.ts';
import { sql } from './sql.ts';

/**
 * @throws DatabaseError `unavailable` if the database does not respond within a few seconds, or
 * `not-configured`
 */
export async function ping(db: Connection): Promise<void> {
  try {
    await db.rows({ text: sql`select '1'`, width: 1 }, { retry: 'probe' });
  } catch (error) {
    const { kind, message } = failureOf(error);
    throw new DatabaseError(kind === 'not-configured' ? kind : 'unavailable', message);
  }
}
