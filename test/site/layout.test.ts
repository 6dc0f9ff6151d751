import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createAccount, createSurvey, storeSurvey } from '../support/data.ts';
import { openPage } from './browser.ts';
import { cards, enterKey, openSurvey, openView, press, settled } from './home.ts';

const LONG = 'Long name '.repeat(40);
const DISPLAYS = [
  { colorScheme: 'dark', width: 320 },
  { colorScheme: 'light', width: 1280 },
] as const;

/** Opens everything that can be opened. */
const openDetails = (page: Page) =>
  page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");

/**
 * Expects a page to be accessible and to fit the window, on a phone and on a desktop, on which it
 * ends.
 */
async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const { colorScheme, width } of DISPLAYS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    const boxes =
      "['html', '.downloads ul'].map((name) => document.querySelector(name)?.scrollWidth ?? 0)";
    expect(Math.max(...(await page.evaluate<number[]>(boxes)))).toBe(width);
    const violations = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      // the others take most of the time
      const { violations: found } = await checker.run({ resultTypes: ['violations'] });
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(violations).toEqual([]);
  }
}

test('the form for the key, after five requests at most, and the list of surveys are accessible and fit the window', async () => {
  const page = await openPage('/', { reducedMotion: 'reduce' });
  /** The paths of what the view has requested from the service. */
  const requested = async () => {
    await page.getByLabel('API key').waitFor();
    return page.evaluate<string[]>(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
         .filter(({ transferSize }) => transferSize > 0) // 0: from the browser's cache
         .map(({ name }) => new URL(name).pathname)`,
    );
  };
  expect((await requested()).length).toBeLessThanOrEqual(5);
  await page.goto(page.url());
  expect(await requested()).toEqual(['/']); // no file is loaded again

  await enterKey(page, '');
  await page.getByRole('alert').getByText('Paste your key first.').waitFor();
  await expectAccessible(page);

  const account = await createAccount();
  await createSurvey(account, LONG, 12);
  await createSurvey(account, 'x'.repeat(400));
  await enterKey(page, account.key);
  await expect.poll(() => page.getByText('0 answers').count()).toBe(2);
  await expectAccessible(page);
});

test('a survey with its downloads is accessible and fits the window; no button is covered', async () => {
  const questions = Array.from({ length: 30 }, (_, i) => `${'q'.repeat(4 * i)}${i}`);
  const survey = await storeSurvey(
    questions.map((question_ref, i) => ({
      userid: `participant ${i % 7}`,
      question_ref,
      question_text: `Question ${'x'.repeat(i * 20)}?\nA) Yes\nB) ${'No'.repeat(1 + i)}`,
      timestamp: new Date(Date.UTC(2026, 2, 1, 20 * i)).toISOString(),
      response: `Answer ${'y'.repeat(i * 20)}`,
      translated_response: i % 3 === 0 ? `Translation ${i}` : null,
      metadata: JSON.stringify({ cluster: `c${i % 3}`, household_members_count: i }),
    })),
    { name: LONG },
  );
  const metadata = ['cluster', 'household_members_count'];
  const selection = { view: 'download', layout: 'wide', question_ref: questions, metadata };
  const page = await openSurvey(survey, selection, { reducedMotion: 'reduce' });
  await press(page, 'Download file');
  await cards(page).getByText('Complete: ').waitFor();
  await press(page, 'Preview');
  await page.getByRole('group', { name: 'First rows of the file' }).waitFor();
  await page.route('**/api/v1/responses/xlsx*', () => {});
  await press(page, 'Download file');
  await page.getByRole('progressbar').waitFor();
  await openDetails(page);
  for (const name of ['Leave out testers', 'More columns'])
    await page.getByRole('group', { name }).getByLabel('household_members_count').waitFor();
  await expectAccessible(page);
  // At every position of the page, each button that is visible can be clicked, unless the downloads
  // are over it.
  const covered = await page.evaluate<string[]>(`(async () => {
    const covered = [];
    const bar = document.querySelector('.downloads');
    for (let y = 0; y < document.documentElement.scrollHeight; y += 300) {
      scrollTo({ top: y, behavior: 'instant' });
      for (const button of document.querySelectorAll('main button, main input:not(.choices *), main summary')) {
        const { left, top, width, height } = button.getBoundingClientRect();
        const [x, middle] = [left + width / 2, top + height / 2];
        if (!button.checkVisibility() || middle < 0 || middle > innerHeight - 1) continue;
        const { top: start, bottom: end } = bar.getBoundingClientRect();
        if ((middle > start && middle < end) !== bar.contains(button)) continue;
        const found = document.elementFromPoint(x, middle);
        if (!button.contains(found) && !found?.contains(button)) covered.push(button.outerHTML);
      }
    }
    return covered;
  })()`);
  expect(covered).toEqual([]);

  for (const view of ['Results', 'Answers']) {
    await openView(page, view);
    await settled(page);
    await openDetails(page);
    await settled(page);
    if (view === 'Results') await page.getByLabel('Split by').selectOption('cluster');
    await settled(page);
    await expectAccessible(page);
  }
});
