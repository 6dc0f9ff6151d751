import { expect, test } from 'vitest';
import { copyResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { saved } from './browser.ts';
import { chooseOlder, openSurvey, press, startProxy } from './home.ts';

const ROWS = 1500;
const WORDS = 1500;
/** The page's scripts, about 5 MB, and a part of less than 8 MB, which is not yet written. */
const MOST_BYTES = 16e6;

test('the memory of the page does not grow with the file that it downloads, or brings up to date', async () => {
  const survey = await createSurvey(await createAccount());
  const [form] = survey.forms;
  await sql(
    `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp)
     select 'parent', $1, $2, 1, 'user', 'question', 0, 'Question?', i || repeat(' "word"', $3),
       '2026-03-01T00:00:00Z'::timestamptz + i * interval '1 second'
     from generate_series(1, $4::int) i`,
    [form?.id, form?.shortcode, WORDS, ROWS],
  );
  const expected = await copyResponses(survey);
  expect(expected.length).toBeGreaterThan(1.2 * MOST_BYTES);

  const { proxy, proxied } = await startProxy();
  const page = await openSurvey(survey, { format: 'csv' }, { origin: proxied, provoked: /Failed to load resource/ });
  const devtools = await page.context().newCDPSession(page);
  /** What the page's scripts hold, with their buffers. Garbage is collected first, because it depends on time. */
  const held = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = await devtools.send('Runtime.getHeapUsage');
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  };
  /** Expects little memory to be held when all but the last byte has arrived, and when the file has been saved. */
  const expectSaved = async (act: () => Promise<void>, index: number, arrived: string, end: string) => {
    const { promise: measured, resolve } = Promise.withResolvers<void>();
    proxy.inject((exchange) => {
      if (exchange.index === index) exchange.cutAfter((body) => body.length - 1, measured);
    });
    const file = await saved(page, async () => {
      await act();
      await page.getByText(arrived).first().waitFor();
      await expect.poll(held).toBeLessThan(MOST_BYTES);
      resolve();
    });
    await page.getByText(end).first().waitFor();
    await expect.poll(held).toBeLessThan(MOST_BYTES);
    expect(file.bytes.equals(expected)).toBe(true);
  };
  await expectSaved(() => press(page, 'Download'), 0, '1,499 of 1,500 answers', 'Complete: 1,500 answers');

  // An older file whose first record has another text, so that its day is downloaded again.
  const old = String(expected).replace('Question?', 'Older question?');
  const megabytes = (expected.lastIndexOf('\n', -2) / 1e6).toFixed(1); // without the last record
  await expectSaved(
    () => chooseOlder(page, old),
    2, // after the digests and the form data
    `Downloading what has changed: day 1 of 1 · ${megabytes} MB`,
    'Up to date. Days: 0 unchanged, 1 changed',
  );
});
