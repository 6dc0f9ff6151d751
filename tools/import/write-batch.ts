import { type Client, DatabaseError } from 'pg';
import { BadLine } from './bad-line.ts';

/**
 * Writes rows in one go; if Postgres refuses a value among them, finds the row it refuses by writing ever smaller
 * halves. What Postgres thinks of a JSON value or of a key's length is not worth knowing twice.
 *
 * @param client in a transaction
 * @param rows in the file's order
 * @param write writes the rows it is given, all or none, and may be called again for a part of them
 * @throws BadLine with Postgres' own words, for the first row it refuses; any other failure as it is
 */
export async function writeBatch<R extends { line: number }, T>(
  client: Client,
  rows: R[],
  write: (rows: R[]) => Promise<T>,
): Promise<T> {
  await client.query('savepoint batch');
  try {
    const result = await write(rows);
    await client.query('release savepoint batch');
    return result;
  } catch (error) {
    if (!isAboutTheData(error)) throw error;
    await client.query('rollback to savepoint batch');
    const [only] = rows;
    if (only && rows.length === 1)
      throw new BadLine(only.line, `Postgres refuses it: ${inFull(error)}`, { cause: error });
    const middle = Math.ceil(rows.length / 2);
    await writeBatch(client, rows.slice(0, middle), write);
    await writeBatch(client, rows.slice(middle), write);
    throw error; // each half passes by itself: then it is not one row's fault
  }
}

/**
 * Data exception, integrity constraint violation, program limit exceeded.
 * Source: https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
function isAboutTheData(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(22|23|54)/.test(error.code ?? '');
}

function inFull({ code, message, detail }: DatabaseError): string {
  const repeatsTheRow = code?.startsWith('23') ?? false;
  return detail === undefined || repeatsTheRow ? message : `${message}: ${detail}`;
}
