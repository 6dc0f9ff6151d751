import type { FileChooser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { errorBody } from '../support/api.ts';
import { type TestAccount, addResponses, createAccount, createSurvey, storeKey } from '../support/data.ts';
import { startWorker } from '../support/worker.ts';
import { type OpenPage, openPage, saved, traces } from './browser.ts';
import { enterKey, hold } from './home.ts';

const SURVEY = 'Food & water';
let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  await addResponses(await createSurvey(account, SURVEY), [{ response: 'yes' }]);
});

const alert = (page: Page) => page.getByRole('alert');
const folders = (page: Page) =>
  page.evaluate<string[]>('navigator.storage.getDirectory().then((root) => Array.fromAsync(root.keys()))');
const unauthorized = /the server responded with a status of 401/;
const otherProblems = ({ problems }: OpenPage) => problems.filter((problem) => !unauthorized.test(problem));

describe('the key', () => {
  test('is accepted with what is often copied with it, and shows whose it is', async () => {
    await using open = await openPage('/');
    await enterKey(open.page, ` "Authorization: Bearer ${account.key}"\t`);
    await open.page.getByText(account.email).waitFor();
    await open.page.getByRole('button', { name: 'Forget key' }).click();
    await enterKey(open.page, `Docs  ${account.email}/docs Key   ${account.key} Data  embedded Postgres`);
    await open.page.getByText(`Key for ${account.email}`, { exact: true }).waitFor();
    expect(open.problems).toEqual([]);
  });

  test('is refused with a sentence that helps, whatever is wrong with it', async () => {
    await using open = await openPage('/');
    const { page } = open;
    await enterKey(page, '');
    expect(await alert(page).textContent()).toBe('Paste your key first.');
    await enterKey(page, account.key.slice(0, -1));
    expect(await alert(page).textContent()).toMatch(/^This is not a complete key\./);
    await enterKey(
      page,
      account.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    );
    await expect.poll(() => alert(page).textContent()).toMatch(/^This key does not work here\./);
    expect(await page.evaluate('document.activeElement.id')).toBe('key');
    expect(otherProblems(open)).toEqual([]);
  });

  test('is neither stored nor in the URL, and a reload forgets it', async () => {
    await using open = await openPage(`/?survey=${encodeURIComponent(SURVEY)}`);
    const { page } = open;
    await page.getByText(`This link opens the survey “${SURVEY}”`).waitFor();
    await enterKey(page, account.key);
    await page.getByRole('heading', { name: SURVEY }).waitFor();
    expect((await traces(page)).join()).not.toContain(account.key);
    await page.reload();
    expect(await page.getByLabel('API key').inputValue()).toBe('');
  });

  test('survives a reload if it is to be kept in this tab, until it is forgotten with everything else', async () => {
    await using open = await openPage('/');
    const { page } = open;
    await page.getByLabel('Keep in this tab').check();
    await enterKey(page, account.key);
    await page.getByText(account.email).waitFor();
    expect(await traces(page)).toContain(account.key);
    await page.goto(`${new URL(page.url()).origin}/?survey=${encodeURIComponent(SURVEY)}`);
    await page.getByRole('heading', { name: SURVEY }).waitFor();

    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await traces(page)).toEqual([`${new URL(page.url()).origin}/`]);
    expect(await folders(page)).toEqual([]);
    expect(await page.content()).not.toContain(SURVEY);
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(open.problems).toEqual([]);
  });

  test('is handed to new tabs and the reference if a tab keeps it, and all of them forget it together', async () => {
    await using open = await openPage('/');
    const { page } = open;
    const openTab = async (path: string) => {
      const tab = await page.context().newPage();
      await tab.goto(new URL(path, page.url()).href);
      return tab;
    };
    const linked = `/?survey=${encodeURIComponent(SURVEY)}`;
    const keyIn = (tab: Page) => tab.getByLabel('API key').inputValue();

    await enterKey(page, account.key); // not kept
    await page.getByText(account.email).waitFor();
    const before = await openTab('/docs');
    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('Keep in this tab').check();
    await enterKey(page, account.key);
    await page.getByText(account.email).waitFor();
    const survey = await openTab(linked);
    await survey.getByRole('heading', { name: SURVEY, level: 1 }).waitFor();
    const reference = await openTab('/docs');
    await expect.poll(() => keyIn(reference)).toBe(account.key);
    expect(await keyIn(before)).toBe('');
    expect(await page.evaluate('localStorage.length')).toBe(0);
    expect(survey.url()).not.toContain('sres_');
    await page.getByRole('link', { name: 'For programmers' }).click();
    await expect.poll(() => keyIn(page)).toBe(account.key);
    await page.goBack();
    await page.getByText(account.email).waitFor();

    await survey.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('API key').waitFor();
    await expect.poll(() => keyIn(reference)).toBe('');
    for (const tab of [page, survey, reference]) {
      expect((await traces(tab)).join()).not.toContain('sres_');
      await tab.reload();
      expect(await keyIn(tab)).toBe('');
    }
    expect(open.problems).toEqual([]);
  });

  test('is forgotten by a tab that has it from another one, and still waits for the service', async () => {
    await using open = await openPage('/');
    const { page } = open;
    await page.getByLabel('Keep in this tab').check();
    await enterKey(page, account.key);
    await page.getByText(account.email).waitFor();
    const tab = await page.context().newPage();
    const held = await hold(tab, '/key');
    await tab.goto(page.url());
    await expect.poll(() => held.held).toBe(1);
    await page.getByRole('button', { name: 'Forget key' }).click();
    await expect.poll(async () => (await traces(tab)).join()).not.toContain('sres_');
    const ended = tab.waitForEvent('requestfinished').catch(() => {});
    held.release();
    await Promise.race([ended, tab.waitForTimeout(1000)]); // the request may have been aborted before it was sent
    expect((await traces(tab)).join()).not.toContain('sres_');
    expect(await alert(tab).count()).toBe(0); // nothing has failed
    expect(open.problems).toEqual([]);
  });

  test('that no longer works returns the user to the key field with an explanation', async () => {
    await using open = await openPage(`/?survey=${encodeURIComponent(SURVEY)}`);
    const { page } = open;
    const key = generateApiKey();
    await storeKey(account.id, key, { expires: new Date('2100-01-01T12:00:00Z') });
    await enterKey(page, key);
    await page.getByText('Selected: 1 participant, 1 answer').waitFor();
    await page.getByText(/\(expires 1 Jan 2100/).waitFor();
    await page.route('**/api/v1/**', (route) => route.continue({ headers: { authorization: 'Bearer expired' } }));
    await page.getByLabel('Participant ID').fill('somebody');
    await expect.poll(() => alert(page).textContent()).toMatch(/^Your key no longer works/);
    expect(await page.getByText(account.email).count()).toBe(0);
    expect(otherProblems(open)).toEqual([]);
  });
});

test('a key, a survey and its download are reached with the keyboard alone', async () => {
  await using open = await openPage('/');
  const { page } = open;
  // Early, since it takes a moment to take effect.
  const chosen = new Promise<FileChooser>((resolve) => page.once('filechooser', resolve));
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  /** Presses Tab until an element with this text has the focus. */
  const tabTo = async (text: string) => {
    let tabs = 0;
    do await page.keyboard.press('Tab');
    while ((await focused()) !== text && tabs++ < 40);
    expect(await focused()).toBe(text);
  };
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the content');
  await page.getByLabel('API key').focus();
  await page.keyboard.type(account.key);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: SURVEY }).waitFor();
  expect(await focused()).toBe('Your surveys'); // screen readers read it
  await tabTo(SURVEY);
  await page.keyboard.press('Enter');
  expect(await focused()).toBe(SURVEY);
  await page.getByText('Selected: 1 participant, 1 answer').waitFor();
  await tabTo('Download answers');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('download');
  await tabTo('Download');
  const { name } = await saved(page, () => page.keyboard.press('Enter'));
  expect(name).toMatch(/^food-water_long_.*\.xlsx$/);
  await tabTo('Preview');
  await page.keyboard.press('Enter');
  await page.getByText('The whole file: 1 row, 14 columns.').waitFor();
  await tabTo('Remove'); // of the download, which comes before the preview
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('listitem').getByText('Complete: ').count()).toBe(0);
  await page.getByRole('group', { name: 'First rows of the file' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await (await chosen).setFiles({ name: 'notes.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n') });
  await page.getByText('This is not a CSV file that was downloaded here').first().waitFor();
  expect(open.problems).toEqual([]);
});

test('the page is not found if the variable PAGE is off, and the reference still is', async () => {
  await using worker = await startWorker('src/worker.ts', { vars: { PAGE: 'off' } });
  expect((await fetch(new URL('/docs', worker.url))).status).toBe(200);
  for (const path of ['/', '/index.html']) {
    const response = await fetch(new URL(path, worker.url));
    const body = errorBody(
      'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.',
    );
    expect([path, response.status, await response.text()]).toEqual([path, 404, body]);
  }
});
