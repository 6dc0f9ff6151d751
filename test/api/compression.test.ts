import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { origin, query } from '../support/api.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';

/**
 * The local runtime also plays Cloudflare's edge, which compresses JSON of any size. Written in capitals, the header reaches the
 * Worker alone.
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

/** Sends a request without the headers that clients add, and returns the raw response. */
async function askRaw(path: string, survey: TestSurvey, headers: OutgoingHttpHeaders, method = 'GET'): Promise<Raw> {
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
    const plain = await askRaw(path, large, {});
    const zipped = await askRaw(path, large, GZIP);
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    expect([zipped.status, zipped.headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(plain.bytes.length).toBeGreaterThan(1024);
    expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
    expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 2);
  });

  test.each(['', 'identity', 'deflate', 'gzip;q=0, deflate', 'identity, gzip;q=0.5'])(
    'is not compressed for %j',
    async (accepted) => {
      const { headers } = await askRaw(path, large, { 'Accept-Encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
    },
  );

  test('always varies by Accept-Encoding, even as an error', async () => {
    for (const survey of [large, small]) {
      for (const headers of [{}, GZIP, { Authorization: '' }]) {
        expect((await askRaw(path, survey, headers)).headers.vary).toBe('Accept-Encoding');
      }
    }
  });

  test('has the same headers for HEAD and GET', async () => {
    const ofEachResponse = new Set([
      'x-request-id',
      'server-timing',
      'date',
      'transfer-encoding',
      'content-disposition',
    ]);
    const asked = async (method: string, survey: TestSurvey, headers: OutgoingHttpHeaders) => {
      const answer = await askRaw(path, survey, headers, method);
      return Object.entries(answer.headers).filter(([name]) => !ofEachResponse.has(name));
    };
    for (const survey of [large, small]) {
      for (const headers of [{}, GZIP]) {
        expect(await asked('HEAD', survey, headers)).toEqual(await asked('GET', survey, headers));
      }
    }
  });

  test('is not compressed if it is small, and has its length', async () => {
    const { headers, bytes } = await askRaw(path, small, GZIP);
    expect(bytes.length).toBeLessThan(1024);
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  test('is not compressed as an error', async () => {
    const { status, headers, bytes } = await askRaw(path, large, { ...GZIP, Authorization: '' });
    expect([status, headers['content-encoding'], bytes.toString()]).toEqual([
      401,
      undefined,
      '{"error":{"message":"Invalid Token."}}',
    ]);
  });
});

test('a small export equals the output of COPY', async () => {
  expect((await askRaw('/responses/csv', small, {})).bytes.toString()).toBe((await copyResponses(small)).toString());
});
