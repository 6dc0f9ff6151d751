import { expect, test } from 'vitest';
import { endpointOf } from '../../src/db/endpoint.ts';

const DATABASE_URL = 'postgresql://worker:secret@db.example.org/surveys';
const SQL_ENDPOINT = 'https://sql.example.org/sql';

test('a database that is not on Neon has an endpoint, with headers; one on Neon has none', () => {
  for (const url of [
    SQL_ENDPOINT,
    'http://127.0.0.1:4444/sql',
    'http://[::1]:4444/sql',
    'http://localhost:4444/sql',
  ])
    expect(
      endpointOf({
        DATABASE_URL,
        SQL_ENDPOINT: url,
        SQL_ENDPOINT_HEADERS: '{"CF-Access-Client-Id":"id"}',
      }),
    ).toEqual({
      databaseUrl: DATABASE_URL,
      endpoint: url,
      headers: { 'cf-access-client-id': 'id' },
    });
  const databaseUrl = 'postgres://worker:secret@EP-X.EU-CENTRAL-1.AWS.NEON.TECH/surveys';
  expect(endpointOf({ DATABASE_URL: databaseUrl })).toEqual({
    databaseUrl,
    endpoint: undefined,
    headers: {},
  });
});

const NOT_JSON = 'SQL_ENDPOINT_HEADERS must be a JSON object of headers';
test.each([
  ['', '', 'SQL_ENDPOINT must be the URL of its gateway'],
  ['http://sql.example.org/sql', '', 'SQL_ENDPOINT must be an https: URL'],
  ['http://127.0.0.1.example.org/sql', '', 'SQL_ENDPOINT must be an https: URL'],
  ['https://me:secret@example.org/sql', '', 'SQL_ENDPOINT must be an https: URL'],
  [SQL_ENDPOINT, 'secret', NOT_JSON],
  [SQL_ENDPOINT, '{"not a name":"secret"}', NOT_JSON],
  [SQL_ENDPOINT, '{"Authorization":"sec\\nret"}', NOT_JSON],
])(
  'the endpoint "%s" with the headers %s is refused, without quoting them',
  (endpoint, headers, message) => {
    const settings = { DATABASE_URL, SQL_ENDPOINT: endpoint, SQL_ENDPOINT_HEADERS: headers };
    const expected = expect.stringMatching(new RegExp(`${message}(?!.*sec)`)) as string;
    expect(() => endpointOf(settings)).toThrow(
      expect.objectContaining({ kind: 'not-configured', message: expected }),
    );
  },
);
