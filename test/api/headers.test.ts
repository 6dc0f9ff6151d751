import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, fetchApi, fetchService, origin, query } from '../support/api.ts';
import { description } from '../support/conformance.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';

let survey: TestSurvey;
let key: string;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'Ümläut/"x"');
  await addResponses(survey, [{}]);
  ({ key } = survey.account);
});

const PATHS = [
  '/surveys',
  '/responses',
  '/responses/csv',
  '/responses/xlsx',
  '/responses/form-data',
  '/responses/questions',
  '/responses/summary',
  '/responses/digests',
];
const pathOf = (path: string) => path + query({ survey: survey.name });

/** The durations of a `Server-Timing`, in milliseconds, by name. */
function timesIn(headers: Headers): Record<string, number> {
  const parts = (headers.get('Server-Timing') ?? '').split(', ').map((part) => /^(\w+);dur=(\d+)$/.exec(part));
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? 'unreadable', Number(part?.[2])]));
}

describe('every response of the Worker', () => {
  test.each([
    '/api/v1/surveys',
    '/api/v1/nowhere',
    '/nowhere',
    '/healthz',
    '/openapi.json',
    ...PATHS.map((path) => `/api/v1${path}`),
  ])('is not cached or sniffed, allows any origin, and has a request id: %s', async (path) => {
    for (const options of [{}, { key }]) {
      const { headers } = await fetchService(pathOf(path), options);
      expect(headers.get('Cache-Control')).toBe('private, no-store');
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/);
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(headers.get('Access-Control-Expose-Headers')).toBe(
        'Allow,Content-Disposition,ETag,Link,Preference-Applied,Retry-After,Server-Timing,WWW-Authenticate,X-Content-Type-Options,X-Error-Code,X-Ignored-Parameters,X-Request-Id,X-Total-Count',
      );
    }
  });

  test.each<[string, string[]]>([
    ['/api/v1/nowhere', ['auth', 'total']],
    ['/nowhere', ['total']],
    ['/healthz', ['db', 'total']],
    ...PATHS.map((path): [string, string[]] => [`/api/v1${path}`, ['auth', 'db', 'total']]),
  ])('reports its timing, also to other origins: %s', async (path, names) => {
    const started = performance.now();
    const { headers } = await fetchService(pathOf(path), { key });
    const times = timesIn(headers);
    expect(Object.keys(times)).toEqual(names);
    const { auth = 0, db = 0, total = NaN } = times;
    expect(auth).toBeLessThanOrEqual(total);
    expect(db).toBeLessThanOrEqual(total);
    expect(auth + db).toBeLessThanOrEqual(total + 1); // each is rounded
    expect(total).toBeLessThanOrEqual(Math.ceil(performance.now() - started));
    expect(headers.get('Timing-Allow-Origin')).toBe('*');
  });

  test('counts a key lookup as authentication, not as database time', async () => {
    const { key: uncached } = await createAccount();
    const { headers } = await fetchService('/api/v1/nowhere', { key: uncached });
    expect(Object.keys(timesIn(headers))).toEqual(['auth', 'total']);
  });

  test('has a unique request id', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await fetchApi('/surveys')).headers.get('X-Request-Id')));
    expect(new Set(ids).size).toBe(3);
  });
});

test.each(PATHS)('a preflight needs no key: %s', async (path) => {
  const response = await fetchApi(path, {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://example.org',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization,x-requested-with',
    },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(response.headers.get('Access-Control-Allow-Headers')).toBe('Authorization,*');
  expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull();
});

const CSV = 'text/csv; charset=utf-8';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
test.each<[string, string, string | undefined]>([
  ['/surveys?', 'application/json', undefined],
  ['/responses?', 'application/json', undefined],
  ['/responses/questions?', 'application/json', undefined],
  ['/responses/summary?', 'application/json', undefined],
  ['/responses/digests?', 'application/json', undefined],
  ['/responses/csv?', CSV, 'responses_TIME.csv'],
  ['/responses/csv?layout=wide&', CSV, 'responses_TIME.csv'],
  ['/responses/form-data?', CSV, 'form-data_TIME.csv'],
  ['/responses/questions?format=csv&', CSV, 'codebook_TIME.csv'],
  ['/responses/ndjson?', 'application/x-ndjson; charset=utf-8', 'responses_TIME.ndjson'],
  ['/responses/xlsx?', XLSX, 'responses_TIME.xlsx'],
])(
  '%s has its type, and a file name that every system accepts; HEAD has the same, and no body',
  async (path, type, name) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, bytes } = await fetchApi(path + query({ survey: survey.name }).slice(1), {
        key,
        method,
      });
      expect([status, bytes.length > 0, headers.get('Content-Type')]).toEqual([200, method === 'GET', type]);
      const disposition = headers.get('Content-Disposition')?.replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ/, 'TIME');
      expect(disposition).toBe(name && `attachment; filename="${name}"`);
    }
  },
);

test('a base URL that ends in a slash works', async () => {
  expect((await fetchService(`/api/v1/${pathOf('/responses')}`, { key })).status).toBe(200);
  expect((await fetchService('//api/v1//surveys', { key })).status).toBe(200);
  expect((await fetchService('/api/v1//surveys')).status).toBe(401);
});

describe('a final slash', () => {
  test('is ignored after every path: the status, the body, and the headers are the same', async () => {
    const paths = Object.keys((await description(origin())).paths);
    expect(paths).toEqual(expect.arrayContaining(['/healthz', '/openapi.json', '/api/v1/surveys']));
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const request = (one: string) =>
          fetchService(pathOf(one), { key, method, headers: { 'Accept-Encoding': 'identity' } });
        const [plain, slash] = [await request(path), await request(`${path}/`)];
        expect(seen(slash)).toEqual(seen(plain));
        expect([path, slash.status]).toEqual([path, method === 'POST' ? 405 : 200]);
      }
      expect((await fetchService(pathOf(`${path}/`))).status).toBe(path.startsWith('/api') ? 401 : 200);
    }
  });

  const seen = ({ status, headers, bytes }: ApiResponse) => ({
    status,
    // A workbook contains the time at which it was made.
    body: headers.get('Content-Type') === XLSX ? bytes.length : bytes.toString(),
    headers: ['Allow', 'Content-Type', 'ETag', 'X-Error-Code'].map((name) => headers.get(name)),
  });

  test.each(['/nowhere/', '/surveys//', '/responses/csv//', '/responses/csv/more/', '/'])(
    'does not make %s a path',
    async (path) => {
      expect((await fetchService(`/api/v1${path}`, { key })).status).toBe(404);
    },
  );

  test.each(['/nowhere/', '/healthz//', '/openapi.json//'])('does not make %s a path outside the API', async (path) => {
    expect((await fetchService(path)).status).toBe(404);
  });
});

test('/healthz is 200 while the database responds, without a key', async () => {
  const response = await fetchService('/healthz');
  expect([response.status, response.text]).toEqual([200, '{"status":"ok"}']);
});
