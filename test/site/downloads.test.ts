import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { fetchApi, origin, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, storeKey } from '../support/data.ts';
import { type Exchange, type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type OpenPage, openPage, saved } from './browser.ts';
import { enterKey } from './home.ts';

let survey: TestSurvey;
let proxy: FaultProxy;
beforeAll(async () => {
  survey = await createHostileSurvey();
  proxy = await startFaultProxy(origin());
});
afterEach(() => proxy.inject());
afterAll(() => proxy.close());

/** A survey whose rows have quotes, line breaks and characters of several bytes, also in the columns of a cursor. */
async function createHostileSurvey(): Promise<TestSurvey> {
  const created = await createSurvey(await createAccount(), 'Étude “1” <script> مسح');
  await addResponses(
    created,
    Array.from({ length: 400 }, (_, i) => ({
      userid: `Åsa "${i % 7}",\n🌍`,
      question_ref: `q\r\n${i}`,
      response: `${i} "quoted",\nline\r\n🌍`.repeat(1 + (i % 40)),
      translated_response: i % 3 === 0 ? '' : null,
      metadata: `{"é": "\\"${i}\\""}`,
    })),
  );
  return created;
}

type Selection = Readonly<Record<string, string>>;

/** Opens the survey through the proxy, ready to download a selection. @param script runs before the page's own */
async function openSurvey(selection: Selection = { format: 'csv' }, script?: string): Promise<OpenPage> {
  const { origin: proxied } = new URL(proxy.url);
  const open = await openPage(`/${query({ survey: survey.name, ...selection })}`, { origin: proxied, script });
  await enterKey(open.page, survey.account.key);
  await settled(open.page);
  return open;
}

/** Waits until the page has everything that it requests for the survey. */
async function settled(page: Page): Promise<void> {
  await page.getByText('Selected: 7 participants, 400 answers').waitFor();
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0);
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** How the only download is doing. */
const card = (page: Page) =>
  page.getByRole('region', { name: 'Downloads' }).getByRole('listitem').getByRole('paragraph').nth(1);

/** Expects the bytes of a file to be those of the API. */
async function expectFile(file: { bytes: Buffer }, path = 'csv', parameters: Selection = {}): Promise<void> {
  const { bytes } = await fetchApi(
    `/responses/${path}${query({ survey: survey.name, ...parameters })}`,
    survey.account,
  );
  expect(file.bytes.equals(bytes), `${file.bytes.length} bytes instead of ${bytes.length}`).toBe(true);
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
async function startHalf(page: Page): Promise<void> {
  proxy.inject(cutAt(page, [0.5], (exchange) => exchange.hang()));
  await press(page, 'Download');
  await expect.poll(() => proxy.requests).toBe(2);
}

/** The files that the page keeps in the browser: their contents by `<folder>/<name>`, with folders by number. */
const kept = (page: Page) =>
  page.evaluate<Record<string, string>>(`(async () => {
    const root = await navigator.storage.getDirectory();
    const files = {};
    let folders = 0;
    for await (const folder of root.values()) {
      for await (const file of folder.values()) files[folders + '/' + file.name] = await (await file.getFile()).text();
      folders++;
    }
    return files;
  })()`);
const keptNames = async (page: Page) => Object.keys(await kept(page)).toSorted();
const HALF = ['0/0', '0/manifest.json'];

/** For pages that wait between requests: the browser seems to be online again and again, which ends each wait. */
const WITHOUT_WAITS = 'setInterval(() => dispatchEvent(new Event("online")), 50)';

/** Problems besides the failed requests that a test provokes. */
const otherProblems = ({ problems }: OpenPage) =>
  problems.filter((problem) => !problem.startsWith('console: Failed to load resource'));

test('a complete file can be saved again until it is removed', async () => {
  await using open = await openSurvey({ format: 'csv', layout: 'wide' });
  const { page } = open;
  const file = await saved(page, () => press(page, 'Download'));
  await expectFile(file, 'csv', { layout: 'wide' });
  expect(file.name).toMatch(/^étude-1-script-مسح_wide_\d{4}-\d\d-\d\d\.csv$/);
  await card(page)
    .getByText(/^Complete: 7 rows, /)
    .waitFor();
  await expectFile(await saved(page, () => press(page, 'Save again')), 'csv', { layout: 'wide' });
  await press(page, 'Remove');
  await expect.poll(() => keptNames(page)).toEqual([]);
  expect(open.problems).toEqual([]);
});

test('a complete file is deleted ten minutes later by the next page that opens, without a key, once no tab uses it', async () => {
  await using open = await openSurvey();
  const { page } = open;
  await saved(page, () => press(page, 'Download'));
  await card(page).getByText('Complete: ').waitFor();
  const files = await keptNames(page);
  expect(files).not.toEqual([]);
  const context = page.context();
  const openLater = async (minutes: number) => {
    const later = await context.newPage();
    await later.clock.setFixedTime(Date.now() + minutes * 60_000);
    await later.goto(page.url());
    await later.getByLabel('API key').waitFor();
    return later;
  };
  const lock = "navigator.locks.request('left downloads', () => {})"; // granted when the sweep has ended
  const other = await openLater(11);
  await other.evaluate(lock);
  expect(await keptNames(other)).toEqual(files);
  await page.close();
  const soon = await openLater(9);
  await soon.evaluate(lock);
  expect(await keptNames(soon)).toEqual(files);
  const late = await openLater(11);
  await expect.poll(() => keptNames(late)).toEqual([]);
});

test.each(['csv', 'xlsx'])('a complete file that was never saved is deleted by the next page: %s', async (format) => {
  const neverSaved = 'Blob.prototype.arrayBuffer = () => new Promise(() => {})'; // which the page reads before it saves
  await using open = await openSurvey({ format }, neverSaved);
  const { page } = open;
  await press(page, 'Download');
  await expect.poll(async () => (await kept(page))['0/manifest.json']).toContain('"isComplete":true');
  const next = await page.context().newPage();
  await page.close();
  await next.goto(new URL(proxy.url).origin);
  await expect.poll(() => keptNames(next)).toEqual([]);
});

test('a download that a version of the page with another manifest has left is deleted', async () => {
  await using open = await openSurvey();
  const { page } = open;
  await page.evaluate(`(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('left', { create: true });
    const file = await (await folder.getFileHandle('manifest.json', { create: true })).createWritable();
    await file.write(JSON.stringify({ email: '${survey.account.email}', time: Date.now(), isComplete: false }));
    await file.close();
  })()`);
  await page.reload();
  await expect.poll(() => keptNames(page)).toEqual([]);
});

test('complete downloads take a line each, and cover nothing', async () => {
  await using open = await openSurvey({ format: 'ndjson' });
  const { page } = open;
  await page.setViewportSize({ width: 1366, height: 768 });
  for (const name of ['NDJSON', 'Codebook']) {
    await page.getByRole('radio', { name }).check();
    await saved(page, () => press(page, 'Download'));
  }
  const cards = page.getByRole('region', { name: 'Downloads' }).getByRole('listitem');
  await expect.poll(() => cards.getByText('Complete: ').count()).toBe(2);
  for (const one of await cards.all()) expect((await one.boundingBox())?.height).toBeLessThan(50);
  // At every position of the page, each button that is visible can be clicked.
  const covered = await page.evaluate<string[]>(`(async () => {
    const covered = [];
    for (let y = 0; y < document.documentElement.scrollHeight; y += 300) {
      scrollTo({ top: y, behavior: 'instant' });
      for (const button of document.querySelectorAll('main button, main input, main summary')) {
        const { left, top, width, height } = button.getBoundingClientRect();
        const [x, middle] = [left + width / 2, top + height / 2];
        if (!button.checkVisibility() || middle < 0 || middle > innerHeight - 1) continue;
        const found = document.elementFromPoint(x, middle);
        if (!button.contains(found) && !found?.contains(button)) covered.push(button.outerHTML);
      }
    }
    return covered;
  })()`);
  expect(covered).toEqual([]);
});

test('a file that is being downloaded is not downloaded a second time', async () => {
  await using open = await openSurvey();
  const { page } = open;
  const cards = page.getByRole('region', { name: 'Downloads' }).getByRole('listitem');
  let requests = 0;
  page.on('request', (request) => (requests += request.url().includes('/responses/csv') ? 1 : 0));
  const button = page.getByRole('button', { name: 'Download', exact: true });
  await saved(page, () => button.dblclick({ delay: 100 }));
  await card(page).getByText('Complete: ').waitFor();
  expect([requests, await cards.count()]).toEqual([1, 1]);

  proxy.inject((exchange) => exchange.hang());
  await button.click();
  await expect.poll(() => requests).toBe(2);
  await button.press('Enter');
  await button.press('Enter');
  expect([requests, await cards.count()]).toEqual([2, 2]);
  // Nor does the second click of a double click press what has moved under the pointer.
  await page.getByRole('button', { name: 'Cancel' }).dblclick();
  expect(await cards.count()).toBe(1);
});

test('Firefox, which would read parts into memory, saves them as one file', async () => {
  const { origin: proxied } = new URL(proxy.url);
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const path = `/${query({ survey: survey.name, format: 'csv' })}`;
  await using open = await openPage(path, { origin: proxied, script: WITHOUT_WAITS, userAgent });
  const { page } = open;
  await enterKey(page, survey.account.key);
  await settled(page);
  proxy.inject(cutAt(page, [0.5]));
  await expectFile(await saved(page, () => press(page, 'Download')));
  await card(page).getByText('Complete: ').waitFor();
  expect(await keptNames(page)).toEqual(['0/0', '0/1', '0/manifest.json', '0/whole']);
  await expectFile(await saved(page, () => press(page, 'Save again')));

  // So is a file that is brought up to date, which refers to parts of the older one.
  const { bytes } = await fetchApi(`/responses/csv${query({ survey: survey.name })}`, survey.account);
  const old = { name: 'old.csv', mimeType: 'text/csv', buffer: bytes };
  await expectFile(await saved(page, () => page.getByLabel('Older CSV file').setInputFiles(old)));
  const wholes = Object.entries(await kept(page)).filter(([name]) => name.endsWith('/whole'));
  expect(wholes.map(([, text]) => text)).toEqual([String(bytes), String(bytes)]);
});

describe('an interrupted download', () => {
  test.each([
    {
      selection: { format: 'csv-excel', metadata: 'é' },
      path: 'csv',
      parameters: { bom: 'true', safe: 'true', metadata: 'é' },
    },
    { selection: { format: 'ndjson' }, path: 'ndjson', parameters: {} },
  ])('continues by itself to the same file: $selection.format', async ({ selection, path, parameters }) => {
    await using open = await openSurvey(selection, WITHOUT_WAITS);
    const { page } = open;
    const resumed: boolean[] = [];
    page.on('request', (sent) => {
      if (sent.url().includes(`/responses/${path}`)) resumed.push(sent.url().includes('after='));
    });
    const otherwise = (exchange: Exchange) => {
      if (exchange.index === 3) {
        return exchange.change((body) => body.subarray(0, body.length / 2)); // a proper end, within a record
      }
      if (exchange.index === 4) return exchange.reply(503, '{}', { 'Retry-After': '1', 'X-Error-Code': 'overloaded' });
      return page.getByRole('status').getByText('The service is busy. Waiting').waitFor();
    };
    proxy.inject(cutAt(page, [0.0001, 0.3333, 0.0002], otherwise));
    await expectFile(await saved(page, () => press(page, 'Download')), path, parameters);
    expect(resumed).toEqual([false, false, true, true, true, true]); // the first cut comes before the first record
    await card(page).getByText('Complete: 400 answers, ').waitFor();
    expect(otherProblems(open)).toEqual([]);
  });

  test('restarts three times if it is a workbook, then waits for the user', async () => {
    await using open = await openSurvey({}, WITHOUT_WAITS);
    const { page } = open;
    proxy.inject(cutAt(page, [0.001, 0.001, 0.001, 0.001]));
    await press(page, 'Download');
    await page.getByRole('button', { name: 'Start again' }).waitFor();
    expect(proxy.requests).toBe(4);
    await expectFile(await saved(page, () => press(page, 'Start again')), 'xlsx');
  });

  test('is offered after a reload or a refused key, to the keys of its account', async () => {
    await using open = await openSurvey();
    const { page } = open;
    await startHalf(page);
    proxy.inject();
    await page.reload();
    await enterKey(page, (await createAccount()).key);
    await expect.poll(() => page.getByText('This key gives access to no survey with this name.').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
    expect(await keptNames(page)).toEqual(HALF);

    await page.reload();
    const key = generateApiKey();
    await storeKey(survey.account.id, key);
    await enterKey(page, key);
    await card(page)
      .getByText(/^Not finished\. [\d]+ of 400 answers, .* arrived so far\.$/)
      .waitFor();
    await settled(page);
    proxy.inject((exchange) => exchange.reply(401, '{}', { 'X-Error-Code': 'invalid_token' }));
    await press(page, 'Continue');
    await page.getByRole('alert').getByText('Your key no longer works').waitFor();
    proxy.inject();
    await enterKey(page, survey.account.key);
    await expectFile(await saved(page, () => press(page, 'Continue')));
    await card(page).getByText('Complete: 400 answers, ').waitFor();
    expect(Object.values(await kept(page)).join()).not.toContain('sres_');
  });

  test('is left alone by other tabs', async () => {
    await using open = await openSurvey();
    const { promise: forgotten, resolve } = Promise.withResolvers<void>();
    const file = await saved(open.page, async () => {
      proxy.inject(cutAt(open.page, [0.5], (exchange) => (exchange.index === 1 ? forgotten : undefined)));
      await press(open.page, 'Download');
      await expect.poll(() => proxy.requests).toBe(2);
      const other = await open.page.context().newPage();
      await other.goto(open.page.url());
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

  test.each([
    ['when a key is forgotten, even that of another account', 0, (page: Page) => press(page, 'Forget key')],
    ['when a key is entered a week later', 8, async () => {}],
  ])('is deleted %s', async (_, days, action) => {
    await using open = await openSurvey();
    const { page } = open;
    await startHalf(page);
    proxy.inject();
    await page.clock.setFixedTime(Date.now() + days * 24 * 3600 * 1000);
    await page.reload();
    await enterKey(page, (await createAccount()).key);
    await action(page);
    await expect.poll(() => keptNames(page)).toEqual([]);
  });

  test('is deleted when it is cancelled, and its request ends', async () => {
    await using open = await openSurvey();
    const { page } = open;
    await startHalf(page);
    await press(page, 'Cancel');
    await expect.poll(() => keptNames(page)).toEqual([]);
    expect(await page.getByRole('region', { name: 'Downloads' }).getByRole('listitem').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.localName')).toBe('main');
    await expect.poll(() => proxy.abandoned).toBe(2);
  });

  test('continues in memory where the browser has no file storage, and warns before the page is closed', async () => {
    await using open = await openSurvey({ format: 'csv' }, 'delete StorageManager.prototype.getDirectory');
    const { page } = open;
    const { promise: warned, resolve } = Promise.withResolvers<void>();
    proxy.inject(cutAt(page, [0.5], () => warned));
    const file = await saved(page, async () => {
      await press(page, 'Download');
      await expect.poll(() => proxy.requests).toBe(2);
      await page.getByText('Keep this page open').waitFor();
      const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      resolve();
    });
    await expectFile(file);
    await card(page).getByText('Complete: ').waitFor();
    expect(await page.getByText('Keep this page open').isVisible()).toBe(false);
  });

  test('is tried again after two minutes of silence, at once when the browser is online, and for ten minutes', async () => {
    await using open = await openSurvey();
    const { page } = open;
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    proxy.inject((exchange) =>
      exchange.index === 0 ? exchange.hang() : exchange.reply(502, 'no service behind this gateway'),
    );
    await press(page, 'Download');
    await expect.poll(() => proxy.requests).toBe(1);
    await page.clock.runFor(120_000);
    await card(page).getByText('The connection was lost. Trying to continue').waitFor();
    await page.evaluate('dispatchEvent(new Event("online"))');
    await expect.poll(() => proxy.requests).toBe(2);
    const again = page.getByRole('button', { name: 'Start again' });
    while (!(await again.isVisible())) await page.clock.runFor(10_000);
    expect(proxy.requests).toBe(24); // waits of 1, 2, 4, 8, 16 seconds, then of 30
    proxy.inject();
    await expectFile(await saved(page, () => again.click()));
  });
});

test('a download that fails or lacks rows is not saved, and names what to do', async () => {
  await using open = await openSurvey({ format: 'ndjson' });
  const { page } = open;
  let files = 0;
  page.on('download', () => files++);
  const { bytes } = await fetchApi(`/responses/ndjson${query({ survey: survey.name })}`, survey.account);

  proxy.inject(cutAt(page, [0.5], () => truncateParts(page)));
  await press(page, 'Download');
  await card(page).getByText('Your browser could not store the file. Start the download again.').waitFor();

  proxy.inject((exchange) =>
    exchange.reply(500, '{}', { 'X-Error-Code': 'internal_error', 'X-Request-Id': 'request-1' }),
  );
  await press(page, 'Start again');
  await card(page).getByText('send the request ID request-1 to whoever runs this service.').waitFor();

  proxy.inject();
  const devtools = await page.context().newCDPSession(page);
  const { origin: pageOrigin } = new URL(page.url());
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: pageOrigin, quotaSize: 10_000 });
  await press(page, 'Start again');
  await card(page).getByText('There is not enough space for this file.').waitFor();
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: pageOrigin });

  const last = bytes.lastIndexOf('\n', -2) + 1;
  proxy.inject((exchange) => exchange.change(() => bytes.subarray(0, last)));
  await press(page, 'Start again');
  await card(page).getByText('Incomplete: only 399 of 400 answers arrived. Start the download again.').waitFor();
  expect(files).toBe(0);

  const more = Buffer.concat([bytes, bytes.subarray(last)]);
  proxy.inject((exchange) => exchange.change(() => more));
  const file = await saved(page, () => press(page, 'Start again'));
  expect(file.bytes.equals(more)).toBe(true);
  await card(page)
    .getByText(/^Complete: 401 answers, .* 1 of them arrived during the download\./)
    .waitFor();
});

/** Damages what the page keeps of a download. */
const truncateParts = (page: Page) =>
  page.evaluate<void>(`(async () => {
    const root = await navigator.storage.getDirectory();
    for await (const folder of root.values()) {
      const writable = await (await folder.getFileHandle('0')).createWritable({ keepExistingData: true });
      await writable.truncate(10);
      await writable.close();
    }
  })()`);
