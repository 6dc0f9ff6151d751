import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateLimitedApiKey } from '../../src/auth/api-key.ts';
import { query } from '../support/api.ts';
import {
  type TestAccount,
  addResponses,
  createAccount,
  createSurvey,
  storeKey,
} from '../support/data.ts';
import { focused, openPage, saved, traces } from './browser.ts';
import { enterKey, hold, press, selected } from './home.ts';

const SURVEY = 'Food & water';
const LINK = `/${query({ survey: SURVEY })}`;
let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  await addResponses(await createSurvey(account, SURVEY), [{ response: 'yes' }]);
});

const alert = (page: Page) => page.getByRole('alert');
const keyIn = (page: Page) => page.getByLabel('API key').inputValue();

/** Opens the list of surveys with a key that is kept in the tab. */
async function openKept(): Promise<Page> {
  const page = await openPage('/');
  await page.getByLabel('Keep in this tab').check();
  await enterKey(page, account.key);
  await page.getByText(account.email).waitFor();
  return page;
}

describe('the key', () => {
  test('is refused with a sentence that helps, accepted with what is often copied with it, and stored nowhere', async () => {
    const page = await openPage(LINK, { provoked: /status of 401/ });
    await page.getByText(`This link opens the survey “${SURVEY}”`).waitFor();
    await enterKey(page, '');
    expect(await alert(page).textContent()).toBe('Paste your key first.');
    await enterKey(page, account.key.slice(0, -1));
    expect(await alert(page).textContent()).toMatch(/^This is not a complete key of/);
    await enterKey(page, generateLimitedApiKey());
    await expect.poll(() => alert(page).textContent()).toMatch(/^This key does not work here\./);
    expect(await page.evaluate('document.activeElement.id')).toBe('key');

    await enterKey(page, ` "Authorization: Bearer ${account.key}"\t`);
    await page.getByRole('heading', { name: SURVEY }).waitFor();
    expect((await traces(page)).join()).not.toContain(account.key);
    const [reference] = await Promise.all([
      page.waitForEvent('popup'), // so the page keeps the key
      page.getByRole('link', { name: 'For programmers' }).click(),
    ]);
    await reference.waitForURL(/\/docs$/, { waitUntil: 'commit' });
    await reference.close();
    await page.getByRole('heading', { name: SURVEY }).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await page.reload(); // forgets it
    expect(await keyIn(page)).toBe('');
    expect(await keyIn(other)).toBe(''); // nor is it handed to another tab
    await enterKey(
      page,
      `Docs  ${account.email}/docs Key   ${account.key} Data  embedded Postgres`,
    );
    // shows whose it is
    await page.getByText(`Key for ${account.email}`, { exact: true }).waitFor();
  });

  test('is kept in this tab, after a reload and in tabs that open meanwhile, until all of them forget everything', async () => {
    const page = await openKept();
    expect(await traces(page)).toContain(account.key);
    await page.goto(new URL(LINK, page.url()).href);
    await page.getByRole('heading', { name: SURVEY }).waitFor();
    const openTab = async (path: string) => {
      const tab = await page.context().newPage();
      await tab.goto(new URL(path, page.url()).href);
      return tab;
    };
    const survey = await openTab(LINK);
    await survey.getByRole('heading', { name: SURVEY, level: 1 }).waitFor();
    expect(await page.evaluate('localStorage.length')).toBe(0);
    expect(survey.url()).not.toContain('sres_');

    await press(survey, 'Forget key');
    for (const tab of [page, survey]) {
      await tab.getByLabel('API key').waitFor();
      expect(await traces(tab)).toEqual([new URL('/', page.url()).href]);
      expect(await tab.content()).not.toContain(SURVEY);
      await tab.reload();
      expect(await keyIn(tab)).toBe('');
    }
  });

  test('is forgotten by a tab that has it from another one, and still waits for the service', async () => {
    const page = await openKept();
    const tab = await page.context().newPage();
    const held = await hold(tab, '/key');
    await tab.goto(page.url());
    await expect.poll(() => held.held).toBe(1);
    await press(page, 'Forget key');
    await expect.poll(async () => (await traces(tab)).join()).not.toContain('sres_');
    const ended = tab.waitForEvent('requestfinished').catch(() => {});
    held.release();
    // the request may have been aborted before it was sent
    await Promise.race([ended, tab.waitForTimeout(1000)]);
    expect((await traces(tab)).join()).not.toContain('sres_');
    expect(await alert(tab).count()).toBe(0); // nothing has failed
  });
});

test('with a limited key, the page says what it sees, and offers nothing else', async () => {
  const key = generateLimitedApiKey();
  const secret = '07'.repeat(32);
  const limits = {
    v: 1,
    surveys: [SURVEY],
    without_questions: ['q0'],
    metadata: [],
    pageid: false,
    secret,
  };
  await storeKey(account.id, key, { limits });
  await addResponses(await createSurvey(account, 'Hidden'), [{}]);
  const page = await openPage('/');
  await enterKey(page, key);
  await page.getByText('Limited key').click();
  await page
    .getByText(
      'This key sees only 1 survey; without 1 question; extra information (metadata): none; no “pageid” (neither the column nor in the metadata); pseudonyms in place of participant IDs.',
    )
    .waitFor();
  await page
    .getByText('1 survey', { exact: true })
    .or(page.getByText('0 answers'))
    .first()
    .waitFor();
  expect(await page.getByText('Hidden').count()).toBe(0);
  await page.getByRole('link', { name: SURVEY }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Download' }).click();
  await page.getByLabel('One row per participant').check();
  await page.getByText('More options').click();
  await page.getByLabel('With times').waitFor();
  for (const text of ['More columns', 'Leave out testers', 'Treatment arms'])
    expect(await page.getByText(text).first().isVisible()).toBe(false);
});

test('a key, a survey and its download are reached with the keyboard alone', async () => {
  const page = await openPage('/');
  /** Presses Tab until an element with this text has the focus, then Enter. */
  const enter = async (text: string) => {
    let tabs = 0;
    do await page.keyboard.press('Tab');
    while ((await focused(page)) !== text && tabs++ < 40);
    expect(await focused(page)).toBe(text);
    await page.keyboard.press('Enter');
  };
  expect(await page.evaluate('document.activeElement.id')).toBe('key');
  for (let tabs = 0; tabs < 5 && (await focused(page)) !== 'Skip to the content'; tabs++)
    await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.id')).toBe('key');
  await page.keyboard.type(account.key);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: SURVEY }).waitFor();
  expect(await focused(page)).toBe('Your surveys'); // screen readers read it
  await enter(SURVEY);
  expect(await focused(page)).toBe(SURVEY);
  await selected(page, '1 participant, 1 answer');
  await enter('Download'); // the view
  expect(await focused(page)).toBe('Download');
  const { name } = await saved(page, () => enter('Download file'));
  expect(name).toMatch(/^food-water_long_.*\.xlsx$/);
  await enter('Preview');
  await page.getByText('1 row × 14 columns.').waitFor();
  await enter('Remove'); // of the download, which comes before the preview
  await expect.poll(() => page.getByRole('listitem').getByText('Complete: ').count()).toBe(0);
});
