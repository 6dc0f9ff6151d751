import { expect, test } from 'vitest';
import { fetchApi, fetchService, query } from '../support/api.ts';
import { storeSurvey } from '../support/data.ts';
import { open, readExport } from '../support/export.ts';

const survey = await storeSurvey([{}], { name: 'Ümläut/"x"' });
const { key } = survey.account;
/** Its bodies are compressed on request, and its files streamed. */
const large = await storeSurvey(
  Array.from({ length: 1500 }, (_, i) => ({ form: i % 20 })),
  { account: survey.account, name: 'large' },
);

const pathOf = (path: string) =>
  path + query({ survey: survey.name }).replace('?', path.includes('?') ? '&' : '?');
/** In capitals, which the local runtime ignores, so that only the Worker compresses. */
const GZIP = { 'Accept-Encoding': 'GZIP' };

// Every response in this suite has the headers that /openapi.json describes as constants.
test.each([
  '/nowhere',
  '/api/v1/nowhere',
  '/healthz',
  '/openapi.json',
  '/api/v1/surveys',
  '/api/v1/responses/csv',
])(
  'a response is not cached or sniffed, loads nothing in a browser, allows any origin, and has a request id: %s',
  async (path) => {
    for (const options of [{}, { key }]) {
      const { headers } = await fetchService(pathOf(path), options);
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/) as string,
        'access-control-allow-origin': '*',
        'access-control-expose-headers':
          'Allow,Content-Disposition,ETag,Link,Preference-Applied,RateLimit-Policy,Retry-After,Server-Timing,WWW-Authenticate,X-Content-Type-Options,X-Error-Code,X-Ignored-Parameters,X-Request-Id,X-Total-Count',
      });
    }
  },
);

test.each([
  ['/api/v1/nowhere', 'auth;dur=N, total;dur=N'],
  ['/nowhere', 'total;dur=N'],
  ['/healthz', 'db;dur=N, total;dur=N'],
  ['/api/v1/responses', 'auth;dur=N, db;dur=N, total;dur=N'],
])('a response reports its timing, also to other origins: %s', async (path, timing) => {
  const started = performance.now();
  const { headers } = await fetchService(pathOf(path), { key });
  const given = headers.get('Server-Timing') ?? '';
  expect(given.replaceAll(/\d+/g, 'N')).toBe(timing);
  const [total = NaN, db = 0, auth = 0] = (given.match(/\d+/g) ?? []).map(Number).toReversed();
  expect(auth + db).toBeLessThanOrEqual(total + 1); // each is rounded
  expect(total).toBeLessThanOrEqual(Math.ceil(performance.now() - started));
  expect(headers.get('Timing-Allow-Origin')).toBe('*');
});

/** Headers that differ between two responses to the same request. */
const VARYING = new Set([
  'x-request-id',
  'server-timing',
  'date',
  'transfer-encoding',
  'content-disposition',
]);

// test/api/model.test.ts checks which bodies are compressed.
test.each([
  '/surveys',
  '/responses',
  '/responses/csv',
  '/responses/ndjson',
  '/responses/form-data',
])(
  '%s has the same headers for HEAD and GET, and always Vary: Accept-Encoding, even as an error',
  async (path) => {
    for (const { name } of [large, survey]) {
      for (const sent of [{}, GZIP, { Authorization: '' }]) {
        const [head, got] = await Promise.all(
          (['HEAD', 'GET'] as const).map(async (method) => {
            const response = await open(path + query({ survey: name, count: 'true' }), {
              key,
              headers: sent,
              method,
            });
            await readExport(response);
            return Object.entries(response.headers).filter(([header]) => !VARYING.has(header));
          }),
        );
        expect(head).toEqual(got);
        expect(head).toContainEqual(['vary', 'Accept-Encoding']);
      }
    }
  },
);

test('a preflight needs no key', async () => {
  const { status, headers } = await fetchApi('/responses', {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://example.org',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization,x-requested-with',
    },
  });
  expect(status).toBe(204);
  expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(headers.get('Access-Control-Allow-Headers')).toBe('Authorization,*');
  expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
});

const CSV = 'text/csv; charset=utf-8';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
test.each([
  ['/responses/csv', CSV, 'responses_TIME.csv'],
  ['/responses/csv?layout=wide', CSV, 'responses_TIME.csv'],
  ['/responses/form-data', CSV, 'form-data_TIME.csv'],
  ['/responses/questions?format=csv', CSV, 'codebook_TIME.csv'],
  ['/responses/ndjson', 'application/x-ndjson; charset=utf-8', 'responses_TIME.ndjson'],
  ['/responses/xlsx', XLSX, 'responses_TIME.xlsx'],
])('%s has its type, and a file name that every system accepts', async (path, type, name) => {
  const { status, headers } = await fetchApi(pathOf(path), { key });
  const disposition = headers
    .get('Content-Disposition')
    ?.replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ/, 'TIME');
  expect([status, headers.get('Content-Type'), disposition]).toEqual([
    200,
    type,
    `attachment; filename="${name}"`,
  ]);
});

test.each([
  '/api/v1//surveys',
  '//api/v1/surveys',
  '/api/v1/surveys/',
  '/healthz/',
  '/openapi.json/',
])('slashes between the parts of a path, and a final one, are ignored: %s', async (path) => {
  const plain = path.replaceAll('//', '/').replace(/\/$/, '');
  for (const method of ['GET', 'HEAD', 'POST']) {
    const request = (one: string) =>
      fetchService(one, { key, method, headers: { 'Accept-Encoding': 'identity' } });
    const [given, expected] = [await request(path), await request(plain)];
    expect([given.status, given.text]).toEqual([method === 'POST' ? 405 : 200, expected.text]);
    for (const name of ['Allow', 'Content-Type', 'ETag', 'X-Error-Code'])
      expect(given.headers.get(name)).toBe(expected.headers.get(name));
  }
  expect((await fetchService(`${plain}//`, { key })).status).toBe(404);
});
