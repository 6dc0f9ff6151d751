import { expect, test } from 'vitest';
import { connect } from '../../src/db/client.ts';
import { sql } from '../../src/db/sql.ts';

const LEFT = 'left';
const refusal = (seconds: string) => `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`;

test.each<[seconds: string, message: string]>([
  ['', LEFT],
  ['0', LEFT],
  ['99999', LEFT],
  ...['60s', '-1', '1e3', ' 5', '100000'].map((seconds): [string, string] => [seconds, refusal(seconds)]),
])('with EXPORT_RETRY_SECONDS=%j, a query whose client has left fails: %s', async (seconds, message) => {
  const db = connect({ DATABASE_URL: 'postgresql://user:secret@host/database', EXPORT_RETRY_SECONDS: seconds });
  const signal = AbortSignal.abort(new Error(LEFT));
  await expect(db.rows({ text: sql`select 1` }, { signal })).rejects.toThrow(message);
});
