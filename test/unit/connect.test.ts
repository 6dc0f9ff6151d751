import { expect, test } from 'vitest';
import { connect } from '../../src/db/client.ts';

/** A query of somebody who has gone: of what it takes nothing is sent. */
function ask(seconds: string | undefined): Promise<unknown> {
  const given = seconds === undefined ? {} : { EXPORT_RETRY_SECONDS: seconds };
  const db = connect({ DATABASE_URL: 'postgresql://user:secret@host/database', ...given });
  return db.rows({ text: 'select 1', params: [] }, { signal: AbortSignal.abort(new Error('gone')) });
}

test.each(['60s', '-1', '1e3', 'Infinity', ' 5'])('EXPORT_RETRY_SECONDS is not "%s"', async (seconds) => {
  await expect(ask(seconds)).rejects.toThrow(
    `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`,
  );
});

test.each([undefined, '', '0', '60', '99999'])('EXPORT_RETRY_SECONDS may be %j', async (seconds) => {
  await expect(ask(seconds)).rejects.toThrow('gone');
});
