import { expect, test } from 'vitest';
import { copyResponses, createAccount, createBulkSurvey } from '../support/data.ts';
import { saved } from './browser.ts';
import { openThroughProxy, press } from './home.ts';

/** The page's scripts, about 5 MB, and a part of less than 8 MB, which is not yet written. */
const MOST_BYTES = 16e6;

test('the memory of the page does not grow with the file that it downloads', async () => {
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

  const { promise: measured, resolve } = Promise.withResolvers<void>();
  proxy.inject((exchange) => {
    if (exchange.index === 0) exchange.cutAfter((body) => body.length - 1, measured);
  });
  const file = await saved(page, async () => {
    await press(page, 'Download file');
    await page.getByText('1,499 of 1,500 answers').first().waitFor();
    await expect.poll(held).toBeLessThan(MOST_BYTES); // all but the last byte has arrived
    resolve();
  });
  await page.getByText('Complete: 1,500 answers').first().waitFor();
  await expect.poll(held).toBeLessThan(MOST_BYTES);
  expect(file.bytes.equals(expected)).toBe(true);
});
