import type { Database } from './client.ts';

/** One try of a few seconds: whoever asks for health asks again anyway. */
const BUDGET = { totalMs: 0, attemptMs: 3_000 };

/** @throws DatabaseError when the database does not answer */
export async function ping(db: Database, signal: AbortSignal): Promise<void> {
  await db.rows({ text: 'select 1', params: [] }, { signal, budget: BUDGET });
}
