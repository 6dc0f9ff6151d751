import { expect, test } from 'vitest';
import { connect } from '../../src/db/client.ts';

const DATABASE_URL = 'postgresql://user:secret@host/database';

test.each(['60s', '-1', '', '1e3', 'Infinity', ' 5'])('EXPORT_RETRY_SECONDS is not "%s"', (seconds) => {
  expect(() => connect({ DATABASE_URL, EXPORT_RETRY_SECONDS: seconds })).toThrow(
    `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`,
  );
});

test.each([undefined, '0', '60', '99999'])('EXPORT_RETRY_SECONDS may be %s', (seconds) => {
  expect(() =>
    connect({ DATABASE_URL, ...(seconds === undefined ? {} : { EXPORT_RETRY_SECONDS: seconds }) }),
  ).not.toThrow();
});
