import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { origin, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';

/**
 * The local runtime also simulates Cloudflare's edge, which compresses JSON of any size. It ignores the value in capitals, so
 * only the Worker compresses.
 */
const GZIP = { 'Accept-Encoding': 'GZIP' };
const PATHS = ['/surveys', '/responses', '/responses/csv', '/responses/ndjson', '/responses/form-data'];

let large: TestSurvey;
let small: TestSurvey;

beforeAll(async () => {
  large = await createSurvey(await createAccount(), 'large', 20);
  small = await createSurvey(await createAccount(), 'small', 1);
  await addResponses(
    large,
    Array.from({ length: 1500 }, (_, i) => ({ form: i % 20, question_ref: `q${i}`, response: `"né 🎉", ${i}` })),
  );
  await addResponses(small, [{}]);
});

interface Raw {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

/** Sends a request without the headers that fetch adds, and does not decompress the response. */
async function fetchRaw(path: string, survey: TestSurvey, headers: OutgoingHttpHeaders, method = 'GET'): Promise<Raw> {
  const sent = request(`${origin()}/api/v1${path}${query({ survey: survey.name })}`, {
    method,
    headers: { Authorization: `Bearer ${survey.account.key}`, ...headers },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

describe.each(PATHS)('%s', (path) => {
  test('is sent as gzip on request, with the same bytes', async () => {
    const plain = await fetchRaw(path, large, {});
    const zipped = await fetchRaw(path, large, GZIP);
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    expect([zipped.status, zipped.headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(plain.bytes.length).toBeGreaterThan(1024);
    expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
    expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 2);
  });

  test.each(['', 'identity', 'deflate', 'gzip;q=0, deflate', 'identity, gzip;q=0.5'])(
    'is not compressed for %j',
    async (accepted) => {
      const { headers } = await fetchRaw(path, large, { 'Accept-Encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
    },
  );

  test('always has Vary: Accept-Encoding, even as an error', async () => {
    for (const survey of [large, small]) {
      for (const headers of [{}, GZIP, { Authorization: '' }]) {
        expect((await fetchRaw(path, survey, headers)).headers.vary).toBe('Accept-Encoding');
      }
    }
  });

  test('has the same headers for HEAD and GET', async () => {
    const varying = new Set(['x-request-id', 'server-timing', 'date', 'transfer-encoding', 'content-disposition']);
    const headersOf = async (method: string, survey: TestSurvey, headers: OutgoingHttpHeaders) => {
      const response = await fetchRaw(path, survey, headers, method);
      return Object.entries(response.headers).filter(([name]) => !varying.has(name));
    };
    for (const survey of [large, small]) {
      for (const headers of [{}, GZIP]) {
        expect(await headersOf('HEAD', survey, headers)).toEqual(await headersOf('GET', survey, headers));
      }
    }
  });

  test('is not compressed if it is small, and has a Content-Length', async () => {
    const { headers, bytes } = await fetchRaw(path, small, GZIP);
    expect(bytes.length).toBeLessThan(1024);
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  test('is not compressed as an error', async () => {
    const { status, headers, bytes } = await fetchRaw(path, large, { ...GZIP, Authorization: '' });
    expect([status, headers['content-encoding'], bytes.toString()]).toEqual([
      401,
      undefined,
      '{"error":{"message":"Invalid Token."}}',
    ]);
  });
});

test('a workbook is not compressed again', async () => {
  const { status, headers } = await fetchRaw('/responses/xlsx', large, GZIP);
  expect([status, headers['content-encoding']]).toEqual([200, undefined]);
});
