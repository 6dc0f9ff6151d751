import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fetchApi, origin } from '../support/api.ts';
import { type TestSurvey, createAccount, storeKey } from '../support/data.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { type OpenPage, withBrowser } from './browser.ts';
import {
  addDownloads,
  createHostileSurvey,
  downloadRequestOf,
  expectSame,
  keptFiles,
  otherProblems,
  pathOf,
  saved,
  start,
} from './downloads.ts';
import { enterKey as typeKey } from './home.ts';

const browser = withBrowser();
let survey: TestSurvey;
let proxy: FaultProxy;
beforeAll(async () => {
  survey = await createHostileSurvey();
  proxy = await startFaultProxy(origin());
});
afterEach(() => proxy.inject());
afterAll(() => proxy.close());

/** Opens the page through the proxy. */
async function openPage(): Promise<OpenPage> {
  const open = await browser.open('/', { origin: new URL(proxy.url).origin });
  await addDownloads(open.page, survey.account);
  return open;
}

/**
 * Cuts the first requests from now on: one at each of the positions, which are parts of the body. Cuts after the beginning come when
 * the page has counted more rows than before. Then does something else.
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
    exchange.cutAfter((body) => Math.floor(body.length * share), share > 0.01 ? received() : undefined);
    return undefined;
  };
}

/** Starts a download that is interrupted for good after half of it. */
async function startHalf(page: Page, request = downloadRequestOf(survey, 'csv', 'csv')): Promise<void> {
  proxy.inject(cutAt(page, [0.5], (exchange) => exchange.hang()));
  await start(page, request);
  await expect.poll(() => proxy.requests).toBe(2);
}

/** Enters a key, and waits until it is accepted. */
async function enterKey(page: Page, key: string): Promise<void> {
  await typeKey(page, key);
  await page.getByRole('button', { name: 'Forget key' }).waitFor();
}

/** Everything that the page keeps in the browser, as text. */
const keptText = (page: Page) =>
  page.evaluate<string>(`(async () => {
    const root = await navigator.storage.getDirectory();
    let text = '';
    for await (const folder of root.values())
      for await (const file of folder.values()) text += await (await file.getFile()).text();
    return text;
  })()`);

/** How the only download is doing. */
const card = (page: Page) =>
  page.getByRole('region', { name: 'Downloads' }).getByRole('listitem').getByRole('paragraph').nth(1);

const continueButton = (page: Page) => page.getByRole('button', { name: 'Continue' });

describe('an interrupted download of the page', () => {
  test.each([
    { format: 'csv', path: 'csv', parameters: { bom: 'true', safe: 'true', metadata: 'é' } },
    { format: 'ndjson', path: 'ndjson', parameters: {} },
  ] as const)('continues by itself to the same file: $format', async ({ format, path, parameters }) => {
    await using open = await openPage();
    const { page, problems } = open;
    const request = downloadRequestOf(survey, format, path, parameters);
    const resumed: boolean[] = [];
    page.on('request', (sent) => {
      if (sent.url().includes('/responses/')) resumed.push(sent.url().includes('after='));
    });
    proxy.inject(cutAt(page, [0.0001, 0.3333, 0.4711, 0.0002, 0.9]));
    const { bytes } = await saved(page, () => start(page, request));
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
    expect(resumed).toEqual([false, false, true, true, true, true]); // the first cut comes before the first record
    await page.getByText('Complete: 400 of 400 responses, ').first().waitFor();
    expect(otherProblems(problems)).toEqual([]);
  });

  test('is offered after a reload, to the same account, and continues to the same file', async () => {
    await using open = await openPage();
    const { page } = open;
    await startHalf(page);
    proxy.inject();
    await page.reload();
    const stranger = await createAccount();
    await enterKey(page, stranger.key);
    await expect.poll(() => keptFiles(page)).toEqual(['0/0', '0/manifest.json']);
    expect(await continueButton(page).count()).toBe(0);

    await page.reload();
    await enterKey(page, survey.account.key);
    await page.getByText(/^Not finished\. [\d]+ of 400 responses, .* arrived so far\.$/).waitFor();
    const { bytes } = await saved(page, () => continueButton(page).click());
    const request = downloadRequestOf(survey, 'csv', 'csv');
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
    expect(await keptFiles(page)).toEqual(['0/0', '0/1', '0/manifest.json']);
    expect(await keptText(page)).not.toContain('sres_');

    await page.clock.setFixedTime(Date.now() + 2 * 3600 * 1000);
    await page.reload();
    await enterKey(page, survey.account.key);
    await expect.poll(() => keptFiles(page)).toEqual([]); // it is complete
  });

  test('is left alone by other tabs until its own is closed', async () => {
    await using open = await openPage();
    await startHalf(open.page);
    proxy.inject();
    const other = await open.page.context().newPage();
    await other.goto(open.page.url());
    await enterKey(other, survey.account.key);
    await addDownloads(other, survey.account);
    await other.evaluate('downloads.forget()');
    expect(await keptFiles(other)).toEqual(['0/0', '0/manifest.json']);
    expect(await continueButton(other).count()).toBe(0);

    await open.page.close();
    await other.reload();
    await enterKey(other, survey.account.key);
    await continueButton(other).waitFor();
    await other.getByRole('button', { name: 'Forget key' }).click();
    await expect.poll(() => keptFiles(other)).toEqual([]);
  });

  test('stays when the key is refused, and continues with another key of the account', async () => {
    await using open = await openPage();
    const { page } = open;
    const refusal = await fetchApi('/surveys', { key: 'none' });
    proxy.inject(
      cutAt(page, [0.5], (exchange) => exchange.reply(401, refusal.text, { 'X-Error-Code': 'invalid_token' })),
    );
    await start(page, downloadRequestOf(survey, 'csv', 'csv'));
    await continueButton(page).waitFor();
    proxy.inject();
    const key = generateApiKey();
    await storeKey(survey.account.id, key);
    await page.reload();
    await enterKey(page, key);
    const { bytes } = await saved(page, () => continueButton(page).click());
    const request = downloadRequestOf(survey, 'csv', 'csv');
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('restarts three times if it is a workbook, then waits for the user', async () => {
    await using open = await openPage();
    const { page } = open;
    const request = downloadRequestOf(survey, 'other', 'xlsx');
    proxy.inject(cutAt(page, [0.001, 0.001, 0.001, 0.001]));
    await start(page, request);
    const again = page.getByRole('button', { name: 'Start again' });
    await again.waitFor();
    expect(proxy.requests).toBe(4);
    const { bytes } = await saved(page, () => again.click());
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('is not saved when a part that was kept is damaged', async () => {
    await using open = await openPage();
    const { page } = open;
    await startHalf(page);
    proxy.inject();
    await page.evaluate(`(async () => {
      const root = await navigator.storage.getDirectory();
      for await (const folder of root.values()) {
        const writable = await (await folder.getFileHandle('0')).createWritable({ keepExistingData: true });
        await writable.truncate(10);
        await writable.close();
      }
    })()`);
    await page.reload();
    await enterKey(page, survey.account.key);
    await continueButton(page).click();
    await card(page).getByText('Your browser could not store the file. Start the download again.').waitFor();
    const request = downloadRequestOf(survey, 'csv', 'csv');
    const { bytes } = await saved(page, () => page.getByRole('button', { name: 'Start again' }).click());
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('is deleted when a key is forgotten, even that of another account', async () => {
    await using open = await openPage();
    const { page } = open;
    await startHalf(page);
    proxy.inject();
    await page.reload();
    await enterKey(page, (await createAccount()).key);
    await page.getByRole('button', { name: 'Forget key' }).click();
    await expect.poll(() => keptFiles(page)).toEqual([]);
  });

  test('is deleted after a week', async () => {
    await using open = await openPage();
    const { page } = open;
    await startHalf(page);
    proxy.inject();
    await page.clock.setFixedTime(Date.now() + 8 * 24 * 3600 * 1000);
    await page.reload();
    await enterKey(page, (await createAccount()).key);
    await expect.poll(() => keptFiles(page)).toEqual([]);
  });

  test('deletes what has arrived when it is cancelled', async () => {
    await using open = await openPage();
    const { page } = open;
    await startHalf(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => keptFiles(page)).toEqual([]);
    expect(await page.getByRole('region', { name: 'Downloads' }).getByRole('listitem').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.localName')).toBe('main');
    await expect.poll(() => proxy.abandoned).toBe(2);
  });

  test('continues in memory where the browser has no file storage, and warns before the page is closed', async () => {
    await using open = await browser.open('/', { origin: new URL(proxy.url).origin });
    const { page } = open;
    await page.addInitScript({ content: 'delete StorageManager.prototype.getDirectory' });
    await page.reload();
    await addDownloads(page, survey.account);
    const { promise: warned, resolve } = Promise.withResolvers<void>();
    const request = downloadRequestOf(survey, 'csv', 'csv');
    proxy.inject(cutAt(page, [0.5], () => warned));
    const { bytes } = await saved(page, async () => {
      await start(page, request);
      await expect.poll(() => proxy.requests).toBe(2);
      await page.getByText('Keep this page open').waitFor();
      await page.locator('#key').click(); // browsers warn only after an interaction
      const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      resolve();
    });
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('is tried again for ten minutes, and at once when the browser is online again', async () => {
    await using open = await openPage();
    const { page } = open;
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    proxy.inject((exchange) => exchange.reply(502, 'no service behind this gateway'));
    const request = downloadRequestOf(survey, 'csv', 'csv');
    await start(page, request);
    await card(page).getByText('The connection was lost. Trying to continue').waitFor();
    await page.evaluate('dispatchEvent(new Event("online"))');
    await expect.poll(() => proxy.requests).toBe(2);
    const again = page.getByRole('button', { name: 'Start again' });
    while (!(await again.isVisible())) {
      const { requests } = proxy;
      await page.clock.runFor(30_000);
      await expect.poll(async () => proxy.requests > requests || (await again.isVisible())).toBe(true);
    }
    expect(proxy.requests).toBe(24); // waits of 1, 2, 4, 8, 16 seconds, then of 30
    proxy.inject();
    const { bytes } = await saved(page, () => again.click());
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('is tried again when nothing has arrived for two minutes', async () => {
    await using open = await openPage();
    const { page } = open;
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    proxy.inject((exchange) => (exchange.index === 0 ? exchange.hang() : undefined));
    const request = downloadRequestOf(survey, 'csv', 'csv');
    const { bytes } = await saved(page, async () => {
      await start(page, request);
      await page.clock.runFor(120_000);
      await card(page).getByText('The connection was lost. Trying to continue').waitFor();
      await page.clock.runFor(1000);
    });
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('waits while the service is busy', async () => {
    await using open = await openPage();
    const { page } = open;
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    proxy.inject((exchange) => {
      if (exchange.index === 0) exchange.reply(503, '{}', { 'Retry-After': '1', 'X-Error-Code': 'overloaded' });
      return exchange.index === 0 ? undefined : seen;
    });
    const request = downloadRequestOf(survey, 'csv', 'csv');
    const { bytes } = await saved(page, async () => {
      await start(page, request);
      await page.getByRole('status').getByText('The service is busy. Waiting to continue').waitFor();
      resolve();
    });
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('shows what to do after other errors, and when the browser has no space', async () => {
    await using open = await openPage();
    const { page } = open;
    proxy.inject((exchange) =>
      exchange.reply(500, '{}', { 'X-Error-Code': 'internal_error', 'X-Request-Id': 'request-1' }),
    );
    const request = downloadRequestOf(survey, 'csv', 'csv');
    await start(page, request);
    await card(page).getByText('send this request ID to whoever runs the service: request-1').waitFor();
    proxy.inject();
    const devtools = await page.context().newCDPSession(page);
    const { origin: pageOrigin } = new URL(page.url());
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: pageOrigin, quotaSize: 10_000 });
    await page.getByRole('button', { name: 'Start again' }).click();
    await card(page).getByText('There is not enough space for this file.').waitFor();
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: pageOrigin });
    const { bytes } = await saved(page, () => page.getByRole('button', { name: 'Start again' }).click());
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
  });

  test('is not saved while rows are missing; rows that were added are named', async () => {
    await using open = await openPage();
    const { page } = open;
    let files = 0;
    page.on('download', () => files++);
    const request = downloadRequestOf(survey, 'ndjson', 'ndjson');
    const { bytes } = await fetchApi(pathOf(request), survey.account);
    const last = bytes.lastIndexOf('\n', -2) + 1;
    proxy.inject((exchange) => exchange.change(() => bytes.subarray(0, last)));
    await start(page, request);
    await card(page).getByText('Incomplete: only 399 of 400 responses arrived. Start the download again.').waitFor();
    expect(files).toBe(0);

    const more = Buffer.concat([bytes, bytes.subarray(last)]);
    proxy.inject((exchange) => exchange.change(() => more));
    const file = await saved(page, () => page.getByRole('button', { name: 'Start again' }).click());
    expectSame(file.bytes, more);
    await card(page)
      .getByText(/^Complete: 401 responses, .* 1 of them arrived during the download\./)
      .waitFor();
  });
});
