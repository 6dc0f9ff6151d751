import { expect, test } from 'vitest';
import { connect } from '../../src/db/client.ts';
import { sql } from '../../src/db/sql.ts';

/** Runs a query whose client has disconnected, so that nothing is sent. */
function queryWith(seconds: string | undefined): Promise<unknown> {
  const given = seconds === undefined ? {} : { EXPORT_RETRY_SECONDS: seconds };
  const db = connect({ DATABASE_URL: 'postgresql://user:secret@host/database', ...given });
  return db.rows({ text: sql`select 1` }, { signal: AbortSignal.abort(new Error('left')) });
}

test.each(['60s', '-1', '1e3', 'Infinity', ' 5'])('EXPORT_RETRY_SECONDS cannot be "%s"', async (seconds) => {
  await expect(queryWith(seconds)).rejects.toThrow(
    `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`,
  );
});

test.each([undefined, '', '0', '60', '99999'])('EXPORT_RETRY_SECONDS can be %j', async (seconds) => {
  await expect(queryWith(seconds)).rejects.toThrow('left');
});
