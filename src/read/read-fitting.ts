import { isTooLarge } from '../db/errors.ts';

/** Dividing 20,000 rows by two down to a single enormous one would take 15 requests; this takes 8. */
const SHRINK = 4;

/**
 * Reads as many rows of a limit as fit one response of the database.
 *
 * @returns what was read, and the number of rows requested
 * @throws DatabaseError; `too-large` if a single row does not fit
 */
export async function readFitting<T>(
  limit: number,
  read: (limit: number) => Promise<T>,
): Promise<T & { readonly requestedRows: number }> {
  for (let rows = limit; ; rows = Math.ceil(rows / SHRINK)) {
    try {
      return { ...(await read(rows)), requestedRows: rows };
    } catch (error) {
      if (!isTooLarge(error) || rows === 1) throw error;
    }
  }
}
