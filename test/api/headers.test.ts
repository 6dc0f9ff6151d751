import { beforeAll, expect, test } from 'vitest';
import { PATHS } from '../chaos/requests/request.ts';
import { fetchApi, fetchService, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';

let survey: TestSurvey;
let key: string;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'Ümläut/"x"');
  await addResponses(survey, [{}]);
  ({ key } = survey.account);
});

const pathOf = (path: string) => path + query({ survey: survey.name }).replace('?', path.includes('?') ? '&' : '?');

test.each([...['/api/v1/nowhere', '/nowhere', '/healthz', '/openapi.json'], ...PATHS.map((path) => `/api/v1${path}`)])(
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
          'Allow,Content-Disposition,ETag,Link,Preference-Applied,Retry-After,Server-Timing,WWW-Authenticate,X-Content-Type-Options,X-Error-Code,X-Ignored-Parameters,X-Request-Id,X-Total-Count',
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

// test/api/model.test.ts checks that a tag changes exactly when the body does, and belongs to one account.
test.each(['/responses', '/responses/digests', '/surveys'])(
  'a client that has the body gets 304, with the headers of a 200 except those of a body: %s',
  async (path) => {
    const { headers: plain } = await fetchApi(pathOf(path), { key, headers: { 'Accept-Encoding': 'identity' } });
    const etag = plain.get('ETag') ?? '';
    expect(etag).toMatch(/^W\/"[\da-f]{32}"$/);
    // In capitals, so that the local runtime does not label an empty body as compressed.
    const sent = { 'Accept-Encoding': 'GZIP', 'If-None-Match': etag };
    for (const method of ['GET', 'HEAD']) {
      const { status, bytes, headers } = await fetchApi(pathOf(path), { key, method, headers: sent });
      expect([status, bytes.length]).toEqual([304, 0]);
      for (const name of ['ETag', 'Vary', 'Cache-Control', 'Access-Control-Allow-Origin', 'X-Content-Type-Options'])
        expect([name, headers.get(name)]).toEqual([name, plain.get(name)]);
      expect([headers.get('Content-Type'), headers.get('Content-Encoding')]).toEqual([null, null]);
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
test.each<[string, string, string | undefined]>([
  ['/surveys', 'application/json', undefined],
  ['/responses/csv', CSV, 'responses_TIME.csv'],
  ['/responses/csv?layout=wide', CSV, 'responses_TIME.csv'],
  ['/responses/form-data', CSV, 'form-data_TIME.csv'],
  ['/responses/questions?format=csv', CSV, 'codebook_TIME.csv'],
  ['/responses/ndjson', 'application/x-ndjson; charset=utf-8', 'responses_TIME.ndjson'],
  ['/responses/xlsx', XLSX, 'responses_TIME.xlsx'],
])(
  '%s has its type, and a file name that every system accepts; HEAD has the same, and no body',
  async (path, type, name) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, bytes } = await fetchApi(pathOf(path), { key, method });
      expect([status, bytes.length > 0, headers.get('Content-Type')]).toEqual([200, method === 'GET', type]);
      const disposition = headers.get('Content-Disposition')?.replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ/, 'TIME');
      expect(disposition).toBe(name && `attachment; filename="${name}"`);
    }
  },
);

test.each(['/api/v1//surveys', '//api/v1/surveys', '/api/v1/surveys/', '/healthz/', '/openapi.json/'])(
  'slashes between the parts of a path, and a final one, are ignored: %s',
  async (path) => {
    const plain = path.replaceAll('//', '/').replace(/\/$/, '');
    for (const method of ['GET', 'HEAD', 'POST']) {
      const request = (one: string) => fetchService(one, { key, method, headers: { 'Accept-Encoding': 'identity' } });
      const [given, expected] = [await request(path), await request(plain)];
      expect([given.status, given.text]).toEqual([method === 'POST' ? 405 : 200, expected.text]);
      for (const name of ['Allow', 'Content-Type', 'ETag', 'X-Error-Code'])
        expect(given.headers.get(name)).toBe(expected.headers.get(name));
    }
    expect((await fetchService(`${plain}//`, { key })).status).toBe(404);
  },
);

test('/healthz is 200 while the database responds, without a key', async () => {
  const response = await fetchService('/healthz');
  expect([response.status, response.text]).toEqual([200, '{"status":"ok"}']);
});
