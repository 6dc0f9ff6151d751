import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';
import { expectAccessible, openDetails } from './accessible.ts';
import { openPage } from './browser.ts';
import { cards, chooseOlder, enterKey, openSurvey, openView, press, settled } from './home.ts';

const LONG = 'Long name '.repeat(40);
/** Between things that do not touch, in pixels. */
const LEAST_SPACE = 6;

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

  // On a phone, the rows are aligned with the heading, and no line is wasted.
  await page.setViewportSize({ width: 320, height: 800 });
  const boxOf = (role: 'heading' | 'link' | 'button', name: string) => page.getByRole(role, { name }).boundingBox();
  expect((await boxOf('link', 'xxx'))?.x).toBe((await boxOf('heading', 'Your surveys'))?.x);
  const [button, link] = [await boxOf('button', 'Forget key'), await boxOf('link', 'For programmers')];
  expect(Math.abs((button?.y ?? 0) - (link?.y ?? 0))).toBeLessThan(10);

  await page.keyboard.press('Tab'); // from the heading to the first row
  const ring = await page.evaluate<string[]>(`(() => {
    const { outlineStyle, outlineOffset, outlineWidth } = getComputedStyle(document.activeElement.closest('li'));
    return [outlineStyle, outlineOffset, outlineWidth];
  })()`);
  expect(ring).toEqual(['solid', '-3px', '3px']); // inside the row, which cuts off what is outside it
});

/** Opens the form of a survey's file, with a preview, a file that was refused, a complete download, and one that is running. */
async function openDownload(): Promise<Page> {
  const survey = await createSurvey(await createAccount(), LONG, 2);
  const questions = Array.from({ length: 30 }, (_, i) => `${'q'.repeat(4 * i)}${i}`);
  await addResponses(
    survey,
    questions.map((question_ref, i) => ({
      userid: `participant ${i % 7}`,
      question_ref,
      question_text: `Question ${'x'.repeat(i * 20)}?\nA) Yes\nB) ${'No'.repeat(1 + i)}`,
      timestamp: new Date(Date.UTC(2026, 2, 1, 20 * i)).toISOString(),
      response: `Answer ${'y'.repeat(i * 20)}`,
      translated_response: i % 3 === 0 ? `Translation ${i}` : null,
      metadata: JSON.stringify({ cluster: `c${i % 3}`, household_members_count: i }),
    })),
  );
  const metadata = ['cluster', 'household_members_count'];
  const selection = { view: 'download', layout: 'wide', question_ref: questions, metadata };
  const page = await openSurvey(survey, selection, { reducedMotion: 'reduce' });
  await press(page, 'Download file');
  await cards(page).getByText('Complete: ').waitFor();
  await press(page, 'Preview');
  await page.getByRole('group', { name: 'First rows of the file' }).waitFor();
  await chooseOlder(page, '');
  await page.getByText('This is not a CSV file that was downloaded here').first().waitFor();
  await page.route('**/api/v1/responses/xlsx*', () => {});
  await press(page, 'Download file');
  await page.getByRole('progressbar').waitFor();
  return page;
}

test('a survey with its downloads is accessible and fits the window; nothing is cut off, touches or is covered', async () => {
  const page = await openDownload();
  await openDetails(page);
  for (const name of ['Leave out testers', 'More columns'])
    await page.getByRole('group', { name }).getByLabel('household_members_count').waitFor();
  await expectAccessible(page);
  const cut = await page.evaluate<string[]>(`(() => {
    const context = document.createElement('canvas').getContext('2d');
    const ARROW = 40;
    return [...document.querySelectorAll('.download select')].flatMap((select) => {
      context.font = getComputedStyle(select).font;
      return [...select.options].map((option) => option.text).filter((text) => context.measureText(text).width > select.clientWidth - ARROW);
    });
  })()`);
  expect(cut).toEqual([]);
  const [from, to] = await page.evaluate<Record<'y' | 'left' | 'right', number>[]>(
    "['since', 'until'].map((name) => document.querySelector(`[name=${name}]`).getBoundingClientRect().toJSON())",
  );
  expect(from?.y).toBe(to?.y);
  expect((to?.left ?? 0) - (from?.right ?? 0)).toBeGreaterThanOrEqual(LEAST_SPACE);
  const touching = await page.evaluate<string[]>(`(() => {
    const nodes = [...document.querySelectorAll('main *')].filter((node) => node.checkVisibility());
    const lines = nodes.filter((node) => !node.closest('button, .button, input, select')).flatMap((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      const { borderTopWidth, borderBottomWidth } = getComputedStyle(node);
      return [[borderTopWidth, top], [borderBottomWidth, bottom]].flatMap(([width, y]) =>
        width === '0px' ? [] : [{ node, left, right, y }]);
    });
    return nodes.filter((node) => node.matches('button:not(.downloads *), .button')).flatMap((button) => {
      const { left, right, top, bottom } = button.getBoundingClientRect();
      return lines
        .filter(({ node }) => node.closest('.selection') === button.closest('.selection'))
        .filter((line) => line.left < right && left < line.right)
        .filter(({ y }) => y > top - ${LEAST_SPACE} && y < bottom + ${LEAST_SPACE})
        .map(({ node }) => button.textContent + ' touches ' + node.localName + '.' + node.className);
    });
  })()`);
  expect(touching).toEqual([]);

  const complete = cards(page).filter({ hasText: 'Complete: ' });
  expect((await complete.boundingBox())?.height).toBeLessThan(50); // one line
  // At every position of the page, each button that is visible can be clicked, unless the bar is over it.
  const covered = await page.evaluate<string[]>(`(async () => {
    const covered = [];
    const bar = document.querySelector('.selection');
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

  for (const view of ['Overview', 'Questions', 'Answers']) {
    await openView(page, view);
    await settled(page);
    await openDetails(page);
    await settled(page);
    await expectAccessible(page);
  }

  await page.setViewportSize({ width: 320, height: 800 }); // on a phone, the buttons are below the text
  const [list, text] = [
    await page.locator('.downloads ul').boundingBox(),
    await complete.locator('.what').boundingBox(),
  ];
  expect((text?.x ?? 0) - (list?.x ?? 0)).toBeGreaterThanOrEqual(LEAST_SPACE);
});
