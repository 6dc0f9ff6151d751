import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { query } from '../support/api.ts';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';
import { type OpenPage, openPage } from './browser.ts';
import { enterKey } from './home.ts';

const LONG = 'Long name '.repeat(40);
const DISPLAYS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 320 },
] as const;

const open = (path: string) => openPage(path, { reducedMotion: 'reduce' });
/** Opens everything that can be opened. */
const openDetails = (page: Page) =>
  page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");

async function openKey(): Promise<OpenPage> {
  const opened = await open('/');
  await enterKey(opened.page, '');
  await opened.page.getByRole('alert').getByText('Paste your key first.').waitFor();
  return opened;
}

async function openSurveys(): Promise<OpenPage> {
  const account = await createAccount();
  await createSurvey(account, LONG, 12);
  await createSurvey(account, 'x'.repeat(400));
  const opened = await open('/');
  await enterKey(opened.page, account.key);
  await expect.poll(() => opened.page.getByText('0 answers').count()).toBe(2);
  return opened;
}

/** A survey with all its parts, a preview, a file that was refused, a complete download, and one that is running. */
async function openSurvey(): Promise<OpenPage> {
  const survey = await createSurvey(await createAccount(), LONG, 2);
  await addResponses(
    survey,
    Array.from({ length: 120 }, (_, i) => ({
      userid: `participant ${i % 7}`,
      question_ref: `${'q'.repeat(i)}${i % 60}`,
      question_text: `Question ${'x'.repeat(i * 5)}?\nA) Yes\nB) ${'No'.repeat(1 + i)}`,
      timestamp: new Date(Date.UTC(2026, 2, 1, 5 * i)).toISOString(),
      response: `Answer ${'y'.repeat(i * 5)}`,
      translated_response: i % 3 === 0 ? `Translation ${i}` : null,
      metadata: JSON.stringify({ cluster: `c${i % 3}` }),
    })),
  );
  const opened = await open(`/${query({ survey: LONG, layout: 'wide' })}`);
  const { page } = opened;
  await enterKey(page, survey.account.key);
  await page.getByText(/^Selected: .*, 120 answers/).waitFor();
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  await page
    .getByRole('region', { name: 'Downloads' })
    .getByText(/^Complete: /)
    .waitFor();
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('group', { name: 'First rows of the file' }).waitFor();
  await page
    .getByLabel('Older CSV file')
    .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('') });
  await page.getByText('This is not a CSV file that was downloaded here').first().waitFor();
  await page.route('**/api/v1/responses/xlsx*', () => {});
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  await page.getByRole('progressbar').waitFor();
  await openDetails(page);
  await page.getByRole('group', { name: 'Leave out testers' }).getByLabel('cluster').waitFor();
  await page.getByText('120 questions', { exact: true }).waitFor();
  await page.getByRole('slider', { name: 'Participants per day' }).waitFor();
  await page.getByRole('region', { name: 'Newest answers' }).getByRole('listitem').first().waitFor();
  return opened;
}

/** The reference, with a response of which only the beginning is shown. */
async function openReference(): Promise<OpenPage> {
  const survey = await createSurvey(await createAccount());
  await addResponses(survey, [{ response: 'x'.repeat(100_000) }]);
  const opened = await open('/docs');
  const endpoint = opened.page.locator('#exportCsv');
  await opened.page.getByLabel('API key').fill(survey.account.key);
  await endpoint.getByLabel('survey', { exact: true }).fill(survey.name);
  await endpoint.getByRole('button', { name: 'Send request' }).click();
  await endpoint.getByText('Only the beginning of the response was read').waitFor();
  await openDetails(opened.page);
  return opened;
}

test.each([
  ['the form for the key', openKey],
  ['the list of surveys', openSurveys],
  ['a survey with its downloads', openSurvey],
  ['the reference', openReference],
])('%s is accessible and fits the window, in both color schemes', async (_, openIt) => {
  await using opened = await openIt();
  const { page, problems } = opened;
  await page.evaluate(axe.source);
  for (const { colorScheme, width } of DISPLAYS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    const boxes = "['html', '.downloads ul'].map((name) => document.querySelector(name)?.scrollWidth ?? 0)";
    expect(Math.max(...(await page.evaluate<number[]>(boxes)))).toBe(width);
    const violations = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      const { violations: found } = await checker.run({ resultTypes: ['violations'] }); // the others take most of the time
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(violations).toEqual([]);
  }
  expect(problems.filter((problem) => !/status of 500/.test(problem))).toEqual([]); // surveys without responses
});
