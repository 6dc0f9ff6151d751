import { describe, expect, test } from 'vitest';
import { type Page, fetchApi, errorBody, query } from '../support/api.ts';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';

const FIELDS = [
  ...[
    'parent_surveyid',
    'parent_shortcode',
    'shortcode',
    'surveyid',
    'flowid',
    'userid',
    'question_ref',
    'question_idx',
  ],
  ...['question_text', 'response', 'timestamp', 'metadata', 'pageid', 'translated_response', 'token'],
];

describe('a row', () => {
  test('has exactly these fields in this order, all strings except metadata and nulls', async () => {
    const account = await createAccount();
    const survey = await createSurvey(account);
    const [form] = survey.forms;
    await addResponses(survey, [
      {
        flowid: '9007199254740993',
        question_idx: 7,
        userid: '+15551234',
        question_ref: 'q',
        question_text: 'Why?',
        response: '',
        metadata: null,
        parent: '02c3dcc1-295a-5c79-8cfe-a43b6783a65d',
      },
      { timestamp: '2026-03-01T00:03:43.771Z', pageid: '935593143497601', translated_response: 'yes', metadata: '{}' },
    ]);
    const { responses } = JSON.parse(
      (await fetchApi(`/responses${query({ survey: survey.name })}`, { key: account.key })).text,
    ) as Page;
    for (const row of responses) expect(Object.keys(row)).toEqual(FIELDS);
    expect(responses[0]).toEqual({
      parent_surveyid: '02c3dcc1-295a-5c79-8cfe-a43b6783a65d',
      parent_shortcode: 'parent',
      shortcode: 'f0',
      surveyid: form?.id,
      flowid: '9007199254740993',
      userid: '+15551234',
      question_ref: 'q',
      question_idx: '7',
      question_text: 'Why?',
      response: '',
      timestamp: '2026-03-01T00:03:43.770047Z',
      metadata: null,
      pageid: null,
      translated_response: null,
      token: expect.stringMatching(/^[\w-]+$/),
    });
    expect(responses[1]).toMatchObject({
      timestamp: '2026-03-01T00:03:43.771Z',
      metadata: {},
      pageid: '935593143497601',
      translated_response: 'yes',
    });
  });

  test.each([
    ['2026-03-01T00:03:43Z', '2026-03-01T00:03:43.000Z'],
    ['2026-03-01T00:03:43.770Z', '2026-03-01T00:03:43.770Z'],
    ['2026-03-01T00:03:43.770047Z', '2026-03-01T00:03:43.770047Z'],
    ['2026-03-01T00:03:43.000001Z', '2026-03-01T00:03:43.000001Z'],
    ['2026-03-01T02:03:43.1+02', '2026-03-01T00:03:43.100Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('of %s has the timestamp %s', async (stored, shown) => {
    const account = await createAccount();
    const survey = await createSurvey(account);
    await addResponses(survey, [{ timestamp: stored }]);
    const response = await fetchApi(`/responses${query({ survey: survey.name })}`, { key: account.key });
    expect((JSON.parse(response.text) as Page).responses[0]?.['timestamp']).toBe(shown);
  });

  test('keeps every digit of numbers in metadata', async () => {
    const account = await createAccount();
    const survey = await createSurvey(account);
    const metadata = '{"a": 12345678901234567890123456789, "b": 1.10, "c": 1e400, "d": -0.0}';
    await addResponses(survey, [{ metadata }]);
    const { text } = await fetchApi(`/responses${query({ survey: survey.name })}`, { key: account.key });
    expect(text).toContain('"a": 12345678901234567890123456789');
    expect(text).toContain('"b": 1.10');
    expect(text).toContain(`"c": 1${'0'.repeat(400)}`);
  });
});

describe('pageSize', () => {
  test.each(['0', '-1', '10001', '1.5', '1e2', '', ' ', 'abc', '0x10', '999999999999999999999', '٣', '+5'])(
    'is refused when it is %j',
    async (pageSize) => {
      const account = await createAccount();
      const response = await fetchApi(`/responses${query({ survey: 's', pageSize })}`, { key: account.key });
      expect(response.status).toBe(400);
      expect(response.text).toBe(errorBody('pageSize must be an integer from 1 to 10000.'));
    },
  );

  test('is 25 by default, and at most 10000', async () => {
    const account = await createAccount();
    const survey = await createSurvey(account);
    await addResponses(
      survey,
      Array.from({ length: 30 }, () => ({})),
    );
    const rowsOf = async (pageSize?: number) => {
      const response = await fetchApi(`/responses${query({ survey: survey.name, pageSize })}`, { key: account.key });
      return (JSON.parse(response.text) as Page).responses.length;
    };
    expect(await rowsOf()).toBe(25);
    expect(await rowsOf(29)).toBe(29);
    expect(await rowsOf(10_000)).toBe(30);
  });
});
