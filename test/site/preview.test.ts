import { expect, test } from 'vitest';
import { storeSurvey } from '../support/data.ts';
import { openThroughProxy, press, selected } from './home.ts';

test('a preview shows the first 20 rows of the exact file, then stops it, or names what to do', async () => {
  const survey = await storeSurvey(
    Array.from({ length: 240 }, (_, i) => ({
      userid: `participant ${String(i % 24).padStart(2, '0')}`,
      question_ref: `q${Math.floor(i / 24)}`,
      response: i === 0 ? '-1\n"é"' : `answer ${i}`,
    })),
  );
  const { page, proxy } = await openThroughProxy(survey, {
    view: 'download',
    layout: 'wide',
    format: 'csv-excel',
  });
  const rows = page.getByRole('group', { name: 'First rows of the file' }).getByRole('row');
  await press(page, 'Preview');
  await page.getByText('The first 20 rows × 18 columns.').waitFor();
  expect(await rows.count()).toBe(21);
  expect(await rows.first().getByRole('columnheader').last().textContent()).toBe('f0.q9');
  const cells = rows.nth(1).getByRole('cell');
  expect(await cells.first().textContent()).toBe('participant 00');
  // the apostrophe is in the file, the rest on another line
  expect(await cells.nth(3).textContent()).toBe("'-1…");
  expect(await rows.last().getByRole('cell').first().textContent()).toBe('participant 19');

  // A change of the selection removes it, since it is another file's.
  await page.locator('.selection summary').first().click();
  await page.getByLabel('Participant ID').fill('participant 03');
  await expect.poll(() => rows.count()).toBe(0);
  await press(page, 'Preview');
  await page.getByText('1 row × 18 columns.').waitFor();
  await page.getByLabel('Participant ID').fill('');
  await page.getByText('24 participants, 240 answers').waitFor();
  await page.getByRole('radio', { name: 'NDJSON' }).check();
  expect(await page.getByRole('button', { name: 'Preview' }).isVisible()).toBe(false);

  // That of a workbook is that of its table. The file would never end.
  await page.getByRole('radio', { name: 'Excel workbook' }).check();
  await page.getByLabel('One row per answer').check();
  proxy.inject((exchange) => exchange.cutAfter((body) => body.length - 1, exchange.closed));
  await press(page, 'Preview');
  await page.getByText('The first 20 rows × 14 columns.').waitFor();
  await page.getByText('Only 6 columns are shown here.').waitFor();
  expect(await rows.first().getByRole('columnheader').allTextContents()).toEqual([
    ...['userid', 'question_ref', 'question_text', 'response', 'timestamp'],
    'translated_response',
  ]);
  await expect.poll(() => proxy.abandoned).toBe(1);

  for (const [status, code, problem] of [
    [400, 'export_too_large', /^Preview: This is too large for one file. Choose fewer/],
    [502, '', /If it happens again, tell whoever runs this service\.$/], // a gateway's
  ] as const) {
    proxy.inject((exchange) =>
      exchange.reply(status, '{"error": {"message": "Narrow it."}}', { 'X-Error-Code': code }),
    );
    await press(page, 'Preview');
    await page.getByText(problem).waitFor();
    expect(await rows.count()).toBe(0);
  }

  proxy.inject();
  await press(page, 'Preview');
  await rows.getByRole('link', { name: 'participant 00' }).first().click();
  await selected(page, '1 participant, 10 answers');
  await page.getByRole('region', { name: 'Answers' }).waitFor();
});
