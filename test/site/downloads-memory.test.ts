import { expect, test } from 'vitest';
import { copyResponses, createAccount, createBulkSurvey } from '../support/data.ts';
import { saved } from './browser.ts';
import { chooseOlder, openThroughProxy, press } from './home.ts';

/** The page's scripts, about 5 MB, and a part of less than 8 MB, which is not yet written. */
const MOST_BYTES = 16e6;

test('the memory of the page does not grow with the file that it downloads, or brings up to date', async () => {
  const columns = { response: `n || repeat(' "word"', 1500)` };
  const survey = await createBulkSurvey(await createAccount(), { rows: 1500, forms: 1, columns });
  const expected = await copyResponses(survey);
  expect(expected.length).toBeGreaterThan(1.2 * MOST_BYTES);

  const { page, proxy } = await openThroughProxy(survey, { view: 'download', format: 'csv' });
  const devtools = await page.context().newCDPSession(page);
  /**
   * What the page's scripts hold, with their buffers. Garbage is collected first, because it
   * depends on time.
   */
  const held = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize, embedderHeapUsedSize, backingStorageSize } =
      await devtools.send('Runtime.getHeapUsage');
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  };
  /**
   * Expects little memory to be held when all but the last byte has arrived, and when the file has
   * been saved.
   */
  const expectSaved = async (
    act: () => Promise<void>,
    index: number,
    arrived: string,
    end: string,
  ) => {
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
  await expectSaved(
    () => press(page, 'Download file'),
    0,
    '1,499 of 1,500 answers',
    'Complete: 1,500 answers',
  );

  // An older file whose first record has another text, so that its day is downloaded again.
  const old = String(expected).replace('Do you think', 'Do they think');
  const megabytes = (expected.lastIndexOf('\n', -2) / 1e6).toFixed(1); // without the last record
  await expectSaved(
    () => chooseOlder(page, old),
    2, // after the digests and the form data
    `Downloading what has changed: day 1 of 1 · ${megabytes} MB`,
    'Up to date. Days: 0 unchanged, 1 changed',
  );
});
