import { expect, test } from 'vitest';
import { summaryJson } from '../chaos/expected/json.ts';
import type { FormVersion, Response } from '../chaos/model/account.ts';
import { createAccount, createBulkSurvey, storeSurvey } from '../support/data.ts';
import { expectError, get } from './requests.ts';

const account = await createAccount();

/**
 * Zones with whole, half and odd hours, with and without daylight-saving time, and one that skipped
 * a day. Some are abbreviations, too.
 */
const ZONES = [
  'UTC',
  'Africa/Nairobi',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'CET',
  'EET',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Etc/GMT+12',
  'GB-Eire',
];
/** Around which days begin, years begin, or clocks change, in some of the zones. */
const MOMENTS = [
  '2011-12-29T11:00:00',
  '2011-12-30T10:00:00',
  '2025-12-31T10:00:00',
  '2025-12-31T18:30:00',
  '2026-01-01T00:00:00',
  '2026-03-08T05:00:00',
  '2026-03-09T04:00:00',
  '2026-03-28T23:00:00',
  '2026-03-29T01:00:00',
  '2026-03-29T22:00:00',
  '2026-04-04T15:00:00',
  '2026-06-30T22:00:00',
  '2026-10-03T15:30:00',
  '2026-10-24T22:00:00',
  '2026-10-25T01:00:00',
  '2026-10-25T23:00:00',
];

test('a summary counts responses and participants by day in any time zone', async () => {
  const before = MOMENTS.map((text) =>
    new Date(Date.parse(`${text}Z`) - 1).toISOString().replace('Z', '999Z'),
  );
  const times = [...MOMENTS.map((text) => `${text}.000Z`), ...before].toSorted();
  const rows = times.map((timestamp, i) => ({ timestamp, userid: `u${i % 3}` }));
  const survey = await storeSurvey(rows, { account });
  const [form] = survey.forms;
  const stored = rows.map((row) =>
    Object.assign({}, row, { surveyid: form?.id }),
  ) as unknown as Response[];
  const forms = [Object.assign({ created: 0 }, form)] as FormVersion[];
  for (const timezone of ZONES) {
    const { status, text } = await get('/responses/summary', survey, { timezone });
    expect([status, text]).toEqual([200, summaryJson(stored, forms, { survey: '', timezone })]);
  }
});

test('a summary counts the day before the year 1 and the day after 9999 on the days beside them', async () => {
  const times = [
    '0001-01-01T00:00:00Z',
    '0001-01-01T12:00:00Z',
    '9999-12-31T01:00:00Z',
    '9999-12-31T23:59:59Z',
  ];
  const survey = await storeSurvey(
    times.map((timestamp) => ({ timestamp })),
    { account },
  );
  for (const [timezone, days] of [
    ['Pacific/Honolulu', ['0001-01-01', '9999-12-30', '9999-12-31']],
    ['Asia/Tokyo', ['0001-01-01', '9999-12-31']],
  ] as const) {
    const { text } = await get('/responses/summary', survey, { timezone });
    expect(JSON.parse(text)).toMatchObject({ responses: 4, days: days.map((day) => ({ day })) });
  }
});

test('a summary of too many days is refused', async () => {
  const columns = { timestamp: `timestamptz '1900-01-02Z' + n * interval '1 day'` };
  const survey = await createBulkSurvey(account, { rows: 50_000, forms: 1, columns });
  const message =
    'This selection has too many days to return at once. Narrow it with since and until.';
  expectError(await get('/responses/summary', survey), 400, 'export_too_large', message);
  const { text } = await get('/responses/summary', survey, { until: '1950-01-01' });
  expect(JSON.parse(text)).toMatchObject({ responses: 18_261 });
});
