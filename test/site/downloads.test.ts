import { beforeAll, describe, expect, test } from 'vitest';
import { fetchApi } from '../support/api.ts';
import type { TestSurvey } from '../support/data.ts';
import { withBrowser } from './browser.ts';
import {
  addDownloads,
  createHostileSurvey,
  expectSame,
  keptFiles,
  orderOf,
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
    const order = orderOf(survey, format, path, parameters);
    const { name, bytes } = await saved(page, () => start(page, order));
    expectSame(bytes, (await fetchApi(pathOf(order), survey.account)).bytes);
    expect(name).toMatch(/^responses_.*Z\.\w+$/);
    await page.getByText(text).first().waitFor();

    const again = await saved(page, () => page.getByRole('button', { name: 'Save again' }).click());
    expectSame(again.bytes, bytes);
    await page.getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => keptFiles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
