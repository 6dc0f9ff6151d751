import { beforeAll, expect, test } from 'vitest';
import { createSurvey as createBulkSurvey } from '../../bench/data.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, withClient } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';

const ROWS = 150_000;
const MARK = 'arrived meanwhile';
let survey: TestSurvey;

beforeAll(async () => {
  const account = await createAccount();
  const { name, forms } = await withClient((client) =>
    createBulkSurvey(client, account, { name: 'bulk', rows: ROWS, forms: 3 }),
  );
  survey = { name, account, forms: forms.map((id) => ({ id, shortcode: 'form' })) };
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
