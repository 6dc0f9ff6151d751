import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import {
  type TestSurvey,
  copyResponses,
  createAccount,
  createBulkSurvey,
  storeKey,
  storeSurvey,
} from '../support/data.ts';
import type { Exchange, Fault, FaultProxy } from '../support/fault-proxy.ts';
import { type Display, keptFiles, keptNames, saved } from './browser.ts';
import {
  type Selection,
  cards,
  enterKey,
  fileOf,
  openThroughProxy,
  openView,
  press,
  settled,
} from './home.ts';

/**
 * A survey whose rows have quotes, line breaks and characters of several bytes, also in the columns
 * of a cursor.
 */
let survey: TestSurvey;
beforeAll(async () => {
  survey = await storeSurvey(
    Array.from({ length: 400 }, (_, i) => ({
      userid: `Åsa "${i % 7}",\n🌍`,
      question_ref: `q\r\n${i}`,
      response: `${i} "quoted",\nline\r\n🌍`.repeat(1 + (i % 40)),
      translated_response: i % 3 === 0 ? '' : null,
      metadata: `{"é": "\\"${i}\\""}`,
    })),
    { name: 'Étude “1” <script> مسح' },
  );
});

/** Opens the survey, ready to download a selection. */
const open = (selection: Selection = { format: 'csv' }, display: Display = {}) =>
  openThroughProxy(survey, { view: 'download', ...selection }, display);

const chooseFormat = (page: Page, name: string) => page.getByRole('radio', { name }).check();
/** How the newest download is doing. */
const card = (page: Page) => cards(page).first().getByRole('paragraph').nth(1);

/** Expects the bytes of a file to be those of the API. */
async function expectFile(
  { bytes }: { bytes: Buffer },
  selection: Selection = {},
  path = 'csv',
): Promise<void> {
  const expected = await fileOf(survey, selection, path);
  expect(bytes.equals(expected), `${bytes.length} bytes instead of ${expected.length}`).toBe(true);
}

/**
 * Cuts the first requests from now on: one at each of the positions, which are parts of the body.
 * Cuts after the beginning come when the page has counted more rows than before. Then does
 * something else.
 */
function cutAt(page: Page, shares: readonly number[], otherwise?: Fault): Fault {
  let rows = 0;
  const counted = async () => Number(/^\d+/.exec((await card(page).textContent()) ?? '')?.[0] ?? 0);
  const received = async () => {
    await expect.poll(counted).toBeGreaterThan(rows);
    rows = await counted();
  };
  return (exchange) => {
    const share = shares[exchange.index];
    if (share === undefined) return otherwise?.(exchange);
    exchange.cutAfter(
      (body) => Math.floor(body.length * share),
      share > 0.01 ? received() : undefined,
    );
    return undefined;
  };
}

/** Starts a download that is interrupted after half of it, and then does something else. */
async function startHalf(
  page: Page,
  proxy: FaultProxy,
  otherwise: Fault = ({ hang }) => hang(),
): Promise<void> {
  proxy.inject(cutAt(page, [0.5], otherwise));
  await press(page, 'Download file');
  await expect.poll(() => proxy.requests).toBe(2);
}

/** What is kept of a download that was interrupted. */
const HALF = ['0/0', '0/manifest.json'];

/**
 * Has the page not wait between requests: the browser seems to be online again and again, which
 * ends each wait.
 */
const endWaits = (page: Page) =>
  page.evaluate('setInterval(() => dispatchEvent(new Event("online")), 50)');

test('a file is downloaded once at a time, and can be saved again until it is removed', async () => {
  const { page, proxy } = await open({ format: 'csv', layout: 'wide' });
  const button = page.getByRole('button', { name: 'Download file', exact: true });
  proxy.inject();
  await page.evaluate(`
    said = [];
    for (const status of document.querySelectorAll('[role=status]'))
      new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true });
  `);
  const file = await saved(page, () => button.dblclick({ delay: 100 }));
  await expectFile(file, { layout: 'wide' });
  const said = [`Downloading ${survey.name}`, expect.stringMatching(/: Complete: 7 rows, /)];
  // to those who do not see it
  await expect.poll(() => page.evaluate('said')).toEqual(expect.arrayContaining(said));
  expect(file.name).toMatch(/^étude-1-script-مسح_wide_\d{4}-\d\d-\d\d_\d{4}\.csv$/);
  await card(page)
    .getByText(/^Complete: 7 rows, /)
    .waitFor();
  expect([proxy.requests, await cards(page).count()]).toEqual([1, 1]);
  const complete = await keptNames(page);

  await page.getByLabel('One row per answer').check();
  await startHalf(page, proxy);
  await button.press('Enter');
  await page.clock.setFixedTime(Date.now() + 60_000); // the file would have another name
  await button.press('Enter');
  expect([proxy.requests, await cards(page).count()]).toEqual([2, 2]);
  // Nor does the second click of a double click press what has moved under the pointer.
  await page.getByRole('button', { name: 'Cancel' }).dblclick();
  expect(await cards(page).count()).toBe(1);
  await expect.poll(() => proxy.abandoned).toBe(2); // the request has ended
  await expect.poll(() => keptNames(page)).toEqual(complete);

  await expectFile(await saved(page, () => press(page, 'Save again')), { layout: 'wide' });
  await press(page, 'Remove');
  await expect.poll(() => keptNames(page)).toEqual([]);
  expect(await page.evaluate('document.activeElement.localName')).toBe('main');

  proxy.inject();
  await saved(page, () => press(page, 'Download file'));
  await card(page).getByText('Complete: ').waitFor();
  await openView(page, 'Answers');
  expect(await cards(page).count()).toBe(0); // what is done goes away
});

test('a file is saved also where the browser has no space, or refuses, for what the page remembers', async () => {
  const { page } = await open();
  await page.evaluate(`
    for (let size = 2 ** 22; size >= 1; size /= 2)
      try {
        for (;;) localStorage.setItem(Math.random(), 'x'.repeat(size));
      } catch {}
  `);
  await expectFile(await saved(page, () => press(page, 'Download file')));

  await page.addInitScript({
    content: `
      const refuse = () => {
        throw new DOMException('refused', 'SecurityError');
      };
      for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'BroadcastChannel'])
        Object.defineProperty(globalThis, name, { get: refuse });
      StorageManager.prototype.getDirectory = async () => refuse();
      LockManager.prototype.request = async () => refuse();
    `,
  });
  await page.reload();
  await enterKey(page, survey.account.key);
  await settled(page);
  await expectFile(await saved(page, () => press(page, 'Download file')));
  await press(page, 'Forget key');
  await page.getByLabel('API key').waitFor();
});

test('files that closed tabs have left are deleted by the next page, without a key; those that were saved, ten minutes later', async () => {
  const { page } = await open();
  await saved(page, () => press(page, 'Download file'));
  await card(page).getByText('Complete: ').waitFor();
  const files = await keptNames(page);
  expect(files).not.toEqual([]);
  // A file that is never saved, and the folder of a page with another manifest.
  await page.evaluate(`(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('left', { create: true });
    const file = await (await folder.getFileHandle('manifest.json', { create: true })).createWritable();
    await file.write(JSON.stringify({ email: '${survey.account.email}', time: Date.now(), isComplete: false }));
    await file.close();
    // The page writes the manifest when the part has arrived, when the file is complete, and before
    // it saves it.
    const { createWritable } = FileSystemFileHandle.prototype;
    let writes = 0;
    FileSystemFileHandle.prototype.createWritable = function () {
      if (this.name === 'manifest.json') writes++;
      return writes > 2 ? new Promise(() => {}) : createWritable.call(this);
    };
  })()`);
  await chooseFormat(page, 'Excel workbook');
  await press(page, 'Download file');
  const complete = async () =>
    Object.values(await keptFiles(page)).filter((text) => text.includes('"isComplete":true'))
      .length;
  await expect.poll(complete).toBe(2);
  /**
   * Opens another page some minutes later. @returns what is kept when it has deleted what is too
   * old
   */
  const openLater = async (minutes: number) => {
    const later = await page.context().newPage();
    await later.clock.setFixedTime(Date.now() + minutes * 60_000);
    // The page deletes them while it has this lock.
    await later.addInitScript({
      content: `const { request } = LockManager.prototype;
        LockManager.prototype.request = function (...args) {
          const result = request.apply(this, args);
          if (args[0] === 'left downloads') swept = result.then(() => true);
          return result;
        };`,
    });
    await later.goto(new URL('/', page.url()).href);
    await expect.poll(() => later.evaluate('globalThis.swept')).toBe(true);
    return keptNames(later);
  };
  expect(await openLater(11)).toHaveLength(2 * files.length); // the page uses both
  await page.close();
  expect(await openLater(9)).toEqual(files);
  expect(await openLater(11)).toEqual([]);
});

test('Firefox, which would read parts into memory, saves them as one file', async () => {
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const { page, proxy } = await open({ format: 'csv' }, { userAgent });
  await endWaits(page);
  proxy.inject(cutAt(page, [0.5]));
  await expectFile(await saved(page, () => press(page, 'Download file')));
  await card(page).getByText('Complete: ').waitFor();
  expect(await keptNames(page)).toEqual(['0/0', '0/1', '0/manifest.json', '0/whole']);
  await expectFile(await saved(page, () => press(page, 'Save again')));
});

describe('an interrupted download', () => {
  test('continues by itself to the same file, also in memory; a workbook starts again three times, then waits for the user', async () => {
    const { page, proxy } = await open({ format: 'csv-excel', metadata: 'é' });
    await endWaits(page);
    const resumed: boolean[] = [];
    page.on('request', (sent) => {
      if (sent.url().includes('/responses/')) resumed.push(sent.url().includes('after='));
    });
    const otherwise = (exchange: Exchange) => {
      if (exchange.index === 3) {
        // a proper end, within a record
        return exchange.change((body) => body.subarray(0, body.length / 2));
      }
      if (exchange.index === 4)
        return exchange.reply(503, '{}', { 'Retry-After': '1', 'X-Error-Code': 'overloaded' });
      return page.getByRole('status').getByText('The service is busy. Waiting').waitFor();
    };
    proxy.inject(cutAt(page, [0.0001, 0.3333, 0.0002], otherwise));
    const csv = await saved(page, () => press(page, 'Download file'));
    await expectFile(csv, { bom: 'true', safe: 'true', metadata: 'é' });
    // The first cut comes before the first record.
    expect(resumed).toEqual([false, false, true, true, true, true]);
    await card(page).getByText('Complete: 400 answers, ').waitFor();

    await chooseFormat(page, 'Excel workbook');
    proxy.inject(cutAt(page, [0.001, 0.001, 0.001, 0.001]));
    await press(page, 'Download file');
    await page.getByRole('button', { name: 'Start again' }).waitFor();
    expect(proxy.requests).toBe(4);
    await expectFile(
      await saved(page, () => press(page, 'Start again')),
      { metadata: 'é' },
      'xlsx',
    );

    // In memory where the browser has no file storage; a warning comes before the page is closed.
    await page.evaluate('delete StorageManager.prototype.getDirectory');
    await chooseFormat(page, 'NDJSON');
    const { promise: warned, resolve } = Promise.withResolvers<void>();
    const file = await saved(page, async () => {
      await startHalf(page, proxy, () => warned);
      await page.getByText('Keep this page open').waitFor();
      const [dialog] = await Promise.all([
        page.waitForEvent('dialog'),
        page.close({ runBeforeUnload: true }),
      ]);
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      resolve();
    });
    await expectFile(file, {}, 'ndjson');
    await card(page).getByText('Complete: ').waitFor();
    expect(await page.getByText('Keep this page open').isVisible()).toBe(false);
  });

  test('is offered after a reload or a refused key to the keys of its account, until a week later, or until one is forgotten', async () => {
    const { page, proxy } = await open();
    const another = await createAccount();
    let time = Date.now();
    /** Leaves a download half done, and enters a key of another account some days later. */
    const leaveHalf = async (days = 0) => {
      await startHalf(page, proxy);
      proxy.inject();
      expect(await keptNames(page)).toEqual(HALF);
      time += days * 24 * 3600 * 1000;
      await page.clock.setFixedTime(time);
      await page.reload();
      await enterKey(page, another.key);
      await page.getByText('This key gives access to no survey with this name.').waitFor();
    };
    await leaveHalf(6.9);
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
    expect(await keptNames(page)).toEqual(HALF);

    await page.reload();
    const key = generateApiKey();
    await storeKey(survey.account.id, key, { expires: new Date('2100-01-01T12:00:00Z') });
    await enterKey(page, key);
    await page.getByText(/\(expires 1 Jan 2100/).waitFor();
    await card(page)
      .getByText(/^Not finished\. [\d]+ of 400 answers, .* arrived so far\.$/)
      .waitFor();
    await settled(page);
    proxy.inject((exchange) => exchange.reply(401, '{}', { 'X-Error-Code': 'invalid_token' }));
    await press(page, 'Continue');
    await page.getByRole('alert').getByText('Your key no longer works').waitFor();
    expect(await page.getByText(survey.account.email).count()).toBe(0);
    proxy.inject();
    await enterKey(page, survey.account.key);
    await expectFile(await saved(page, () => press(page, 'Continue')));
    await card(page).getByText('Complete: 400 answers, ').waitFor();
    expect(Object.values(await keptFiles(page)).join()).not.toContain('sres_');
    await press(page, 'Remove');
    await expect.poll(() => keptNames(page)).toEqual([]);

    await leaveHalf(7.1);
    await expect.poll(() => keptNames(page)).toEqual([]);
    await page.reload();
    await enterKey(page, survey.account.key);
    await settled(page);
    await leaveHalf();
    await press(page, 'Forget key');
    await expect.poll(() => keptNames(page)).toEqual([]);
  });

  test('is left alone by other tabs', async () => {
    const { page, proxy } = await open();
    const { promise: forgotten, resolve } = Promise.withResolvers<void>();
    const file = await saved(page, async () => {
      await startHalf(page, proxy, (exchange) => (exchange.index === 1 ? forgotten : undefined));
      const other = await page.context().newPage();
      await other.goto(page.url());
      await enterKey(other, survey.account.key);
      await settled(other);
      expect(await other.getByRole('button', { name: 'Continue' }).count()).toBe(0);
      await press(other, 'Forget key');
      await other.getByLabel('API key').waitFor();
      expect(await keptNames(other)).toEqual(HALF);
      resolve();
    });
    await expectFile(file);
  });

  test('is tried again after two minutes of silence, at once when the browser is online, and for ten minutes', async () => {
    const { page, proxy } = await open();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    proxy.inject((exchange) =>
      exchange.index === 0
        ? exchange.hang()
        : exchange.reply(502, 'no service behind this gateway'),
    );
    await press(page, 'Download file');
    await card(page).getByText('Preparing the file…').waitFor();
    await expect.poll(() => proxy.requests).toBe(1);
    await page.clock.fastForward(120_000);
    await card(page).getByText('The connection was lost. Trying to continue').waitFor();
    await page.evaluate('dispatchEvent(new Event("online"))');
    await expect.poll(() => proxy.requests).toBe(2);
    await page.clock.resume();
    await endWaits(page);
    const again = page.getByRole('button', { name: 'Start again' });
    await again.waitFor();
    expect(proxy.requests).toBe(24); // waits of 1, 2, 4, 8, 16 seconds, then of 30
    proxy.inject();
    await expectFile(await saved(page, () => again.click()));
  });
});

test('a download that fails or lacks rows is not saved, and names what to do', async () => {
  const { page, proxy } = await open({ format: 'ndjson' });
  let files = 0;
  page.on('download', () => files++);
  const bytes = await fileOf(survey, {}, 'ndjson');

  const truncatePart = `(async () => {
    const root = await navigator.storage.getDirectory();
    for await (const folder of root.values()) {
      const writable = await (await folder.getFileHandle('0')).createWritable({ keepExistingData: true });
      await writable.truncate(10);
      await writable.close();
    }
  })()`;
  proxy.inject(cutAt(page, [0.5], () => page.evaluate<void>(truncatePart)));
  await press(page, 'Download file');
  await card(page)
    .getByText('Your browser could not store the file. Start the download again.')
    .waitFor();

  proxy.inject((exchange) =>
    exchange.reply(500, '{}', { 'X-Error-Code': 'internal_error', 'X-Request-Id': 'request-1' }),
  );
  await press(page, 'Start again');
  await card(page)
    .getByText('send the request ID request-1 to whoever runs this service.')
    .waitFor();

  proxy.inject();
  const devtools = await page.context().newCDPSession(page);
  const { origin } = new URL(page.url());
  await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 10_000 });
  await press(page, 'Start again');
  await card(page).getByText('Not enough space for this file.').waitFor();
  await devtools.send('Storage.overrideQuotaForOrigin', { origin });

  const last = bytes.lastIndexOf('\n', -2) + 1;
  proxy.inject((exchange) => exchange.change(() => bytes.subarray(0, last)));
  await press(page, 'Start again');
  await card(page)
    .getByText('Incomplete: only 399 of 400 answers arrived. Start the download again.')
    .waitFor();
  expect(files).toBe(0);

  const more = Buffer.concat([bytes, bytes.subarray(last)]);
  proxy.inject((exchange) => exchange.change(() => more));
  const file = await saved(page, () => press(page, 'Start again'));
  expect(file.bytes.equals(more)).toBe(true);
  await card(page)
    .getByText(/^Complete: 401 answers, .* 1 of them arrived during the download\./)
    .waitFor();
});

/** The page's scripts, about 5 MB, and a part of less than 8 MB, which is not yet written. */
const MOST_BYTES = 16e6;

test('the memory of the page does not grow with the file that it downloads', async () => {
  const columns = { response: `n || repeat(' "word"', 1500)` };
  const large = await createBulkSurvey(await createAccount(), { rows: 1500, forms: 1, columns });
  const expected = await copyResponses(large);
  expect(expected.length).toBeGreaterThan(1.2 * MOST_BYTES);

  const { page, proxy } = await openThroughProxy(large, { view: 'download', format: 'csv' });
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
