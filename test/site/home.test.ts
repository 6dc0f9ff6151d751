import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { errorBody, fetchService } from '../support/api.ts';
import { type TestAccount, addResponses, createAccount, createSurvey, storeKey } from '../support/data.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';
import { type OpenPage, withBrowser } from './browser.ts';
import { enterKey } from './home.ts';

const browser = withBrowser();
const SURVEY = 'Food & water';
let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  await addResponses(await createSurvey(account, SURVEY), [{ response: 'yes' }]);
});

const alert = (page: Page) => page.getByRole('alert');
/** What the page has left in the browser. */
const traces = (page: Page) =>
  page.evaluate<string>(`(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href,
    await Array.fromAsync((await navigator.storage.getDirectory()).keys()),
  ]))()`);
const unauthorized = /the server responded with a status of 401/;
const otherProblems = ({ problems }: OpenPage) => problems.filter((problem) => !unauthorized.test(problem));

describe('the key', () => {
  test.each([
    ['white space and quotes around it', (key: string) => ` "${key}"\t`],
    ['a header that was copied with it', (key: string) => `Authorization: Bearer ${key}`],
  ])('is accepted with %s, and shows whose it is', async (_, typed) => {
    await using open = await browser.open('/');
    await enterKey(open.page, typed(account.key));
    await open.page.getByText(`Key for ${account.email}: no expiry date`).waitFor();
    expect(open.problems).toEqual([]);
  });

  test('is refused with a sentence that helps, whatever is wrong with it', async () => {
    await using open = await browser.open('/');
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
    await using open = await browser.open(`/?survey=${encodeURIComponent(SURVEY)}`);
    const { page } = open;
    await page.getByText(`This link opens the survey “${SURVEY}”`).waitFor();
    await enterKey(page, account.key);
    await page.getByRole('heading', { name: SURVEY }).waitFor();
    expect(await traces(page)).not.toContain(account.key);
    await page.reload();
    expect(await page.getByLabel('API key').inputValue()).toBe('');
  });

  test('survives a reload if it is to be kept in this tab, until it is forgotten with everything else', async () => {
    await using open = await browser.open('/');
    const { page } = open;
    await page.getByLabel('Keep in this tab').check();
    await enterKey(page, account.key);
    await page.getByText(account.email).waitFor();
    await page.goto(`${new URL(page.url()).origin}/?survey=${encodeURIComponent(SURVEY)}`);
    await page.getByRole('heading', { name: SURVEY }).waitFor();

    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await traces(page)).toBe(JSON.stringify([{}, {}, '', `${new URL(page.url()).origin}/`, []]));
    expect(await page.content()).not.toContain(SURVEY);
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(open.problems).toEqual([]);
  });

  test('that expires while the page is open returns the user to the key field with an explanation', async () => {
    await using open = await browser.open(`/?survey=${encodeURIComponent(SURVEY)}`);
    const { page } = open;
    const key = generateApiKey();
    const expires = new Date(Date.now() + 5_000);
    await storeKey(account.id, key, { expires });
    await enterKey(page, key);
    await page.getByText('Selected: 1 response from 1 participant').waitFor();
    await page.getByText(/Key for .*: expires/).waitFor();
    await sleep(expires.getTime() - Date.now() + 100);
    await page.getByLabel('Participant ID').fill('somebody');
    await expect.poll(() => alert(page).textContent()).toMatch(/^Your key no longer works/);
    expect(await page.getByText(account.email).count()).toBe(0);
    expect(otherProblems(open)).toEqual([]);
  });
});

test('a key, a survey and its download are reached with the keyboard alone', async () => {
  await using open = await browser.open('/');
  const { page } = open;
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
  await tabTo(SURVEY);
  await page.keyboard.press('Enter');
  await page.getByText('Selected: 1 response from 1 participant').waitFor();
  await tabTo('Download responses');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('download');
  await tabTo('Download');
  const saved = page.waitForEvent('download');
  await page.keyboard.press('Enter');
  expect((await saved).suggestedFilename()).toMatch(/^responses_.*\.xlsx$/);
  expect(open.problems).toEqual([]);
});

test('the page is not found if the variable PAGE is off, and the reference still is', async () => {
  const stack = await startStack({ vars: { PAGE: 'off' } });
  try {
    useStack(stack.address);
    expect((await fetchService('/docs')).status).toBe(200);
    for (const path of ['/', '/index.html']) {
      const { status, text } = await fetchService(path);
      expect([path, status, text]).toEqual([path, 404, errorBody('Not found: there is no such path.')]);
    }
  } finally {
    await stack.stop();
  }
});
