import { beforeAll, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { AWKWARD } from '../support/awkward-text.ts';
import { type TestAccount, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

/** JSON as it is stored: numbers that JavaScript cannot represent, and values that are not text. */
const METADATA = [
  ...[
    '{"ad_id": 12345678901234567890123456789}',
    '{"ad_id": ""}',
    '{"ad_id": {"nested": "\\"quoted\\""}}',
    '["ad_id"]',
  ],
  ...['{"n": 1.10, "big": 1e300, "c": 1e400, "d": -0.0}', '{"": "a", "it\'s": "b", "a,\\"b\\"": "c"}', 'null', null],
];
const KEYS = ['ad_id', 'n', '', 'a,"b"', "it's", '🎉'];

test('a CSV file equals the output of COPY byte for byte, for awkward texts and metadata', async () => {
  const survey = await createSurvey(account, undefined, 3);
  await addResponses(
    survey,
    AWKWARD.map((text, i) => ({
      form: i % 3,
      timestamp: ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', '2026-03-01T00:00:00.1Z'][i % 3] ?? '',
      userid: text,
      question_ref: `${text}${text}`,
      question_text: `a${text}`,
      response: `${text}b`,
      parent_shortcode: text,
      pageid: text,
      translated_response: i % 2 ? text : null,
      flowid: ['9223372036854775807', '-9223372036854775808'][i % 2] ?? '',
      question_idx: [2 ** 31 - 1, -(2 ** 31)][i % 2] ?? 0,
      metadata: METADATA[i % METADATA.length] ?? null,
    })),
  );
  // A key given twice counts once.
  const path = `/responses/csv${query({ survey: survey.name, metadata: [...KEYS, 'n'] })}`;
  const { status, text, bytes } = await fetchApi(path, account);
  const copied = await copyResponses(survey, KEYS);
  expect([status, text]).toEqual([200, copied.toString('utf8')]);
  expect(bytes.equals(copied)).toBe(true);
});
