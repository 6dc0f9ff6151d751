import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { open, readExport } from '../support/export.ts';

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

/** Sends a request without the headers that fetch adds, and does not decompress the response. */
async function fetchRaw(path: string, { name, account: { key } }: TestSurvey, headers = {}, method?: 'HEAD') {
  const response = await open(path + query({ survey: name, count: 'true' }), {
    key,
    headers,
    ...(method && { method }),
  });
  return { headers: response.headers, bytes: (await readExport(response)).bytes };
}

describe.each(PATHS)('%s', (path) => {
  test('is sent as gzip on request, with the same bytes, unless it is small', async () => {
    const plain = await fetchRaw(path, large, {});
    const zipped = await fetchRaw(path, large, GZIP);
    expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
    const { headers, bytes } = await fetchRaw(path, small, GZIP);
    expect(bytes.length).toBeLessThan(1024);
    expect([headers['content-encoding'], headers['content-length']]).toEqual([undefined, String(bytes.length)]);
  });

  test('has the same headers for HEAD and GET, and always Vary: Accept-Encoding, even as an error', async () => {
    const varying = new Set(['x-request-id', 'server-timing', 'date', 'transfer-encoding', 'content-disposition']);
    for (const survey of [large, small]) {
      for (const sent of [{}, GZIP, { Authorization: '' }]) {
        const [head, got] = await Promise.all(
          (['HEAD', undefined] as const).map(async (method) => {
            const { headers } = await fetchRaw(path, survey, sent, method);
            return Object.entries(headers).filter(([name]) => !varying.has(name));
          }),
        );
        expect(head).toEqual(got);
        expect(head).toContainEqual(['vary', 'Accept-Encoding']);
      }
    }
  });
});

test('a workbook is not compressed again', async () => {
  const { headers } = await fetchRaw('/responses/xlsx', large, GZIP);
  expect(headers['content-encoding']).toBeUndefined();
});
