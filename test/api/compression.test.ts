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
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

/** Sends a request without the headers that fetch adds, and does not decompress the response. */
async function fetchRaw(path: string, survey: TestSurvey, headers: OutgoingHttpHeaders, method = 'GET'): Promise<Raw> {
  const sent = request(`${origin()}/api/v1${path}${query({ survey: survey.name, count: 'true' })}`, {
    method,
    headers: { Authorization: `Bearer ${survey.account.key}`, ...headers },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { headers: response.headers, bytes: await buffer(response) };
}

describe.each(PATHS)('%s', (path) => {
  test('is sent as gzip on request, with the same bytes', async () => {
    const plain = await fetchRaw(path, large, {});
    const zipped = await fetchRaw(path, large, GZIP);
    expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
    expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 2);
  });

  test('is not compressed if it is small, and has a Content-Length', async () => {
    const { headers, bytes } = await fetchRaw(path, small, GZIP);
    expect(bytes.length).toBeLessThan(1024);
    expect([headers['content-encoding'], headers['content-length']]).toEqual([undefined, String(bytes.length)]);
  });

  test('has the same headers for HEAD and GET, and always Vary: Accept-Encoding, even as an error', async () => {
    const varying = new Set(['x-request-id', 'server-timing', 'date', 'transfer-encoding', 'content-disposition']);
    const headersOf = async (method: string, survey: TestSurvey, headers: OutgoingHttpHeaders) => {
      const response = await fetchRaw(path, survey, headers, method);
      expect(response.headers.vary).toBe('Accept-Encoding');
      return Object.entries(response.headers).filter(([name]) => !varying.has(name));
    };
    for (const survey of [large, small]) {
      for (const headers of [{}, GZIP, { Authorization: '' }]) {
        expect(await headersOf('HEAD', survey, headers)).toEqual(await headersOf('GET', survey, headers));
      }
    }
  });
});

test('a workbook is not compressed again', async () => {
  const { headers } = await fetchRaw('/responses/xlsx', large, GZIP);
  expect(headers['content-encoding']).toBeUndefined();
});
