import axe from 'axe-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { fetchApi } from '../support/api.ts';
import type { TestSurvey } from '../support/data.ts';
import { withBrowser } from './browser.ts';
import {
  addDownloads,
  createHostileSurvey,
  downloadRequestOf,
  expectSame,
  keptFiles,
  pathOf,
  saved,
  start,
} from './downloads.ts';

const browser = withBrowser();
let survey: TestSurvey;
beforeAll(async () => {
  survey = await createHostileSurvey();
});

describe('a download of the page', () => {
  test.each([
    {
      format: 'csv',
      path: 'csv',
      parameters: { bom: 'true', metadata: 'é' },
      text: 'Complete: 400 of 400 responses, ',
    },
    { format: 'ndjson', path: 'ndjson', parameters: {}, text: 'Complete: 400 of 400 responses, ' },
    { format: 'wide', path: 'csv', parameters: { layout: 'wide' }, text: 'Complete: 7 rows, ' },
    { format: 'other', path: 'xlsx', parameters: {}, text: 'Complete: ' },
  ] as const)('saves the file of the API: $format', async ({ format, path, parameters, text }) => {
    await using open = await browser.open('/');
    const { page, problems } = open;
    await addDownloads(page, survey.account);
    const request = downloadRequestOf(survey, format, path, parameters);
    const { name, bytes } = await saved(page, () => start(page, request));
    expectSame(bytes, (await fetchApi(pathOf(request), survey.account)).bytes);
    expect(name).toMatch(/^responses_.*Z\.\w+$/);
    await page.getByText(text).first().waitFor();

    const again = await saved(page, () => page.getByRole('button', { name: 'Save again' }).click());
    expectSame(again.bytes, bytes);
    await page.getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => keptFiles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test.each([
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 320 },
  ] as const)('is accessible and fits the window: $colorScheme, $width px', async (display) => {
    await using open = await browser.open('/', display);
    const { page, problems } = open;
    await addDownloads(page, survey.account);
    await start(page, downloadRequestOf(survey, 'csv', 'csv'));
    await page.getByText('Complete: ').first().waitFor();
    const endless = { ...downloadRequestOf(survey, 'csv', 'csv'), survey: 'Long name '.repeat(100) };
    await page.route('**/api/v1/responses/**', () => {});
    await start(page, endless);
    await page.getByRole('progressbar').waitFor();
    const widths = "['html', '.downloads ul'].map((name) => document.querySelector(name).scrollWidth)";
    const [pageWidth, listWidth] = await page.evaluate<[number, number]>(widths);
    expect(pageWidth).toBe(display.width);
    expect(listWidth).toBeLessThanOrEqual(display.width);
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      const { violations: found } = await checker.run();
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(violations).toEqual([]);
    expect(problems).toEqual([]);
  });
});
