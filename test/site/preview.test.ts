import { beforeAll, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { type Display } from './browser.ts';
import { type Selection, openSurvey, startProxy } from './home.ts';

let survey: TestSurvey;
beforeAll(async () => {
  survey = await createSurvey(await createAccount());
  await addResponses(
    survey,
    Array.from({ length: 240 }, (_, i) => ({
      userid: `participant ${String(i % 24).padStart(2, '0')}`,
      question_ref: `q${Math.floor(i / 24)}`,
      response: i === 0 ? '-1\n"é"' : `answer ${i}`,
    })),
  );
});

async function open(selection: Selection, display: Display = {}) {
  const page = await openSurvey(survey, selection, display);
  const rows = page.getByRole('group', { name: 'First rows of the file' }).getByRole('row');
  const preview = () => page.getByRole('button', { name: 'Preview' }).click();
  return { page, rows, preview };
}

test('a preview shows the first 20 rows of the exact file and counts its columns', async () => {
  const { page, rows, preview } = await open({ layout: 'wide', format: 'csv-excel' });
  await preview();
  await page.getByText('The first 20 rows of the file, which has 18 columns.').waitFor();
  expect(await rows.count()).toBe(21);
  expect(await rows.first().getByRole('columnheader').last().textContent()).toBe('f0.q9');
  const cells = rows.nth(1).getByRole('cell');
  expect(await cells.first().textContent()).toBe('participant 00');
  expect(await cells.nth(8).textContent()).toBe("'-1…"); // the apostrophe is in the file, the rest on another line
  expect(await rows.last().getByRole('cell').first().textContent()).toBe('participant 19');

  // A change of the selection removes it, since it is another file's.
  await page.getByLabel('Participant ID').fill('participant 03');
  await expect.poll(() => rows.count()).toBe(0);
  await preview();
  await page.getByText('The whole file: 1 row, 18 columns.').waitFor();

  await page.getByRole('radio', { name: 'NDJSON' }).check();
  expect(await page.getByRole('button', { name: 'Preview' }).isVisible()).toBe(false);
});

test('the preview of a workbook is that of its table; it stops the file when it has its rows, or names what to do', async () => {
  const { proxy, proxied } = await startProxy();
  const { page, rows, preview } = await open(
    { codebook: 'true' },
    { origin: proxied, provoked: /status of (4|5)\d\d/ },
  );
  proxy.inject((exchange) => exchange.cutAfter((body) => body.length - 1, exchange.closed)); // would never end
  await preview();
  await page.getByText('The first 20 rows of the file, which has 14 columns.').waitFor();
  const { bytes } = await fetchApi(`/responses/csv${query({ survey: survey.name })}`, survey.account);
  const header = await rows.first().getByRole('columnheader').allTextContents();
  expect(header.join(',')).toBe(String(bytes).split('\n', 1)[0]);
  await expect.poll(() => proxy.abandoned).toBe(1);

  for (const [status, code, text] of [
    [503, 'overloaded', 'Preview: The service is busy. Try again in a minute.'],
    [400, 'export_too_large', /^Preview: This is too large for one file of this kind. Choose fewer/],
    [502, '', /If it happens again, tell whoever runs this service\.$/], // a gateway's
  ] as const) {
    proxy.inject((exchange) =>
      exchange.reply(status, '{"error": {"message": "Narrow it."}}', { 'X-Error-Code': code }),
    );
    await preview();
    await page.getByText(text).waitFor();
    expect(await rows.count()).toBe(0);
  }
});
