import { beforeAll, expect, test } from 'vitest';
import { type TestSurvey, addResponses, copyResponses, createAccount, createBulkSurvey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';

const ROWS = 100_000;
const MARK = 'arrived meanwhile';
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createBulkSurvey(await createAccount(), { rows: ROWS, forms: 3 });
});

test('rows stored during an export neither repeat nor displace those stored before', async () => {
  const before = await copyResponses(survey);
  const response = await beginExport(survey);
  response.pause();

  // Before all others, between them, tied with them except for the form version, and after them.
  const times = Array.from({ length: 3000 }, (_, i) => new Date(Date.UTC(2026, 2, 1) + i * 18_000).toISOString());
  await addResponses(
    survey,
    ['2020-01-01T00:00:00Z', ...times, '2030-01-01T00:00:00Z'].map((timestamp, i) => ({
      timestamp,
      form: i % 3,
      response: MARK,
      userid: '2000000000000001',
    })),
  );

  const { complete, bytes } = await readExport(response);
  expect(complete).toBe(true);
  const lines = bytes.toString().split('\n');
  const arrived = lines.filter((line) => line.includes(MARK));
  expect(arrived.length).toBeGreaterThan(0);
  expect(new Set(arrived).size).toBe(arrived.length);
  expect(lines.filter((line) => !line.includes(MARK)).join('\n')).toBe(before.toString());
});
