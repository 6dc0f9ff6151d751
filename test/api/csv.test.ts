import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pgText } from '../support/arbitraries.ts';
import { type Page, errorBody, fetchApi, query } from '../support/api.ts';
import {
  type TestResponse,
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
} from '../support/data.ts';

const csvOf = (survey: TestSurvey, parameters: Parameters<typeof query>[0] = {}) =>
  fetchApi(`/responses/csv${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key });

/** JSON, some with numbers that JavaScript cannot represent. */
const metadata = fc.option(
  fc.oneof(
    fc.constantFrom(
      '{}',
      '{"ad_id": "a,b"}',
      '{"ad_id": 12345678901234567890123456789}',
      '{"ad_id": null}',
      '{"ad_id": ""}',
      '{"ad_id": {"nested": "\\"quoted\\""}}',
      '{"n": 1.10, "m": -1e-30, "big": 1e300}',
    ),
    fc.dictionary(pgText, fc.oneof(pgText, fc.maxSafeInteger(), fc.boolean())).map((value) => JSON.stringify(value)),
  ),
  { nil: null },
);

const anyResponse: fc.Arbitrary<TestResponse> = fc.record({
  form: fc.nat(2),
  timestamp: fc.constantFrom('2026-03-01T00:00:00Z', '2026-03-01T00:00:00.000001Z', '2025-12-31T23:59:59.123Z'),
  userid: fc.oneof(pgText, fc.constantFrom('a', 'b')),
  question_ref: pgText,
  question_idx: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  question_text: pgText,
  response: pgText,
  flowid: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  metadata,
  parent: fc.option(fc.uuid(), { nil: null }),
  parent_shortcode: pgText,
  pageid: fc.option(pgText, { nil: null }),
  translated_response: fc.option(pgText, { nil: null }),
});

const anyResponses = fc.uniqueArray(anyResponse, {
  minLength: 1,
  maxLength: 40,
  selector: ({ form, timestamp, userid, question_ref }) => JSON.stringify([form, timestamp, userid, question_ref]),
});

const anyKeys = fc.uniqueArray(fc.constantFrom('ad_id', 'n', 'm', '', 'a,"b"', "it's", '🎉'), { maxLength: 5 });

describe('the CSV export', () => {
  test('equals the output of COPY byte for byte, for any rows and keys of the metadata', async () => {
    const account = await createAccount();
    await fc.assert(
      fc.asyncProperty(anyResponses, anyKeys, async (rows, keys) => {
        const survey = await createSurvey(account, undefined, 3);
        await addResponses(survey, rows);
        // A key given twice counts once.
        const response = await csvOf(survey, { metadata: keys.concat(keys.slice(0, 1)) });
        expect(response.status).toBe(200);
        const copied = await copyResponses(survey, keys);
        expect(response.text).toBe(copied.toString('utf8'));
        expect(response.bytes.equals(copied)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  test('has every row once, over many pages and form versions', async () => {
    const survey = await createSurvey(await createAccount(), undefined, 9);
    // Each run of 9 rows ties in all but the form version, so that page boundaries are between ties.
    const rows = Array.from({ length: 6000 }, (_, i) => ({
      form: i % 9,
      timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 18)).toISOString(),
      userid: `user ${Math.floor(i / 9) % 2}`,
      question_ref: `q${Math.floor(i / 9) % 7}`,
      response: `answer ${i}, ${'x'.repeat(1500 + (i % 1500))}`,
    }));
    await addResponses(survey, rows);
    const response = await csvOf(survey);
    expect(response.bytes.equals(await copyResponses(survey))).toBe(true);
    expect(response.text.split('\n')).toHaveLength(6002);
  });

  test.each([
    '100%',
    'a+b',
    'a&b=c',
    'a/b',
    `"quoted" 'single'`,
    'Zürich 漢字 🎉',
    '%41',
    'a b',
    '#?;',
    'a\r\nX-Evil: 1',
  ])('finds the survey named %j, decoding its name once', async (name) => {
    const survey = await createSurvey(await createAccount(), name);
    await addResponses(survey, [{}]);
    const response = await csvOf(survey);
    expect(response.status).toBe(200);
    expect(response.bytes.equals(await copyResponses(survey))).toBe(true);
  });
});

describe('metadata', () => {
  test('can be up to 50 keys, which a resumed download has as well', async () => {
    const survey = await createSurvey(await createAccount());
    await addResponses(
      survey,
      Array.from({ length: 3 }, (_, i) => ({ timestamp: `2026-03-01T00:00:0${i}Z`, metadata: `{"k7": "seven ${i}"}` })),
    );
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
    const whole = await copyResponses(survey, keys);
    expect((await csvOf(survey, { metadata: keys })).bytes.equals(whole)).toBe(true);
    const first = await fetchApi(`/responses${query({ survey: survey.name, pageSize: 1 })}`, {
      key: survey.account.key,
    });
    const after = (JSON.parse(first.text) as Page).responses[0]?.token;
    const lines = whole.toString().split('\n');
    expect((await csvOf(survey, { metadata: keys, after })).text).toBe(lines.slice(2).join('\n'));

    const more = await csvOf(survey, { metadata: [...keys, 'k50'] });
    const message = 'metadata must be text without NUL characters, given at most 50 times.';
    expect([more.status, more.text]).toEqual([400, errorBody(message)]);
  });
});
