import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorBody, origin } from '../support/api.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';
import { type OpenPage, openPage, saved, traces } from './browser.ts';

/** Opens the reference, and waits for its last endpoint. */
async function openReference(): Promise<OpenPage> {
  const open = await openPage('/docs');
  await open.page.locator('#getHealth').waitFor();
  return open;
}

const NAME = `It's “Ümläut” & $(more)`;
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), NAME);
  const metadata = '{"id": 12345678901234567890123456789}';
  await addResponses(
    survey,
    Array.from({ length: 2000 }, (_, i) => ({ response: `answer ${i} ${'x'.repeat(100)}`, metadata })),
  );
});

/** Fills in the key, the survey and other parameters, and sends the request. @returns the endpoint's part of the page */
async function send(page: Page, id: string, parameters: Record<string, string> = {}) {
  await page.getByLabel('API key').fill(survey.account.key);
  const endpoint = page.locator(`#${id}`);
  for (const [name, value] of Object.entries({ survey: NAME, ...parameters })) {
    await endpoint.getByLabel(name, { exact: true }).fill(value);
  }
  await endpoint.getByRole('button', { name: 'Send request' }).click();
  return endpoint;
}

describe('the reference page', () => {
  test('sends a request with the key, which it stores nowhere, and shows the response with every digit', async () => {
    await using open = await openReference();
    const { page } = open;
    const endpoint = await send(page, 'listResponses', { pageSize: '2' });
    await endpoint.getByText('Received status 200.').waitFor();
    const body = await endpoint.getByRole('group', { name: 'Response body' }).textContent();
    expect(body).toContain('"id": 12345678901234567890123456789');
    expect((JSON.parse(body ?? '') as { responses: unknown[] }).responses).toHaveLength(2);
    await endpoint.getByText('Headers', { exact: true }).first().click();
    expect(await endpoint.getByRole('group', { name: 'Response headers' }).textContent()).toContain('x-request-id');
    expect(open.problems).toEqual([]);

    const left = [...(await traces(page)), await page.content()]; // with the curl command
    expect(left.filter((text) => text.includes(survey.account.key))).toEqual([]);
    await page.reload();
    expect(await page.getByLabel('API key').inputValue()).toBe('');
  });

  test('lists the fields of a response, also of the objects in its arrays', async () => {
    await using open = await openReference();
    const body = open.page.locator('#listQuestions .responses details').filter({ hasText: 'The questions;' });
    await body.locator('summary').press('Enter');
    expect(await body.locator('p').filter({ hasText: 'Each element' }).allTextContents()).toEqual([
      'Each element of questions:',
      'Each element of choices:',
    ]);
    const fields = await body.locator('dl').evaluateAll((lists) => lists.map((list) => list.textContent));
    expect(fields[0]).toBe('questions array');
    expect(fields[1]).toContain('choices array or null');
    expect(fields[2]).toMatch(/^value string.*label string.+$/);
  });

  test('reads only the beginning of a large file, and downloads all of it on request', async () => {
    await using open = await openReference();
    const endpoint = await send(open.page, 'exportCsv');
    await endpoint.getByText('Only the beginning of the response was read').waitFor();
    const shown = (await endpoint.getByRole('group', { name: 'Response body' }).textContent()) ?? '';
    const expected = await copyResponses(survey);
    expect(Buffer.byteLength(shown)).toBe(64 * 1024);
    expect(expected.toString().startsWith(shown)).toBe(true);

    const file = await saved(open.page, () => endpoint.getByRole('button', { name: 'Download the file' }).click());
    expect(file.name).toMatch(/^responses_.*Z\.csv$/);
    expect(file.bytes.equals(expected)).toBe(true);
    expect(open.problems).toEqual([]);
  });

  test('shows errors, and does not save them', async () => {
    await using open = await openReference();
    const endpoint = await send(open.page, 'exportCsv', { survey: 'no such survey' });
    await endpoint.getByText('Received status 500.').waitFor();
    await open.page.getByLabel('API key').fill('wrong');
    await endpoint.getByRole('button', { name: 'Download the file' }).click();
    const state = endpoint.getByRole('status');
    await expect.poll(() => state.textContent()).toBe(`Not saved: status 401. ${errorBody('Invalid Token.')}`);
  });

  test('quotes the curl command for a shell', async () => {
    await using open = await openReference();
    const endpoint = await send(open.page, 'exportCsv', { userid: 'a\nb c' });
    await endpoint.getByText('As a curl command').click();
    const command = await endpoint.getByRole('group', { name: 'curl command' }).textContent();
    const script = `curl() { printf '%s\\n' "$@"; }; ${command}`;
    const args = execFileSync('sh', ['-c', script], { env: { SURVEY_EXPORT_KEY: 'the key' }, encoding: 'utf8' })
      .trimEnd()
      .split('\n');
    expect(args).toEqual([
      ...['-sS', '--fail', '-H', 'Authorization: Bearer the key', '-G', `${origin()}/api/v1/responses/csv`],
      ...['--data-urlencode', `survey=${NAME}`, '--data-urlencode', 'userid=a', '--data-urlencode', 'userid=b c'],
      ...['-o', 'responses-csv.csv'],
    ]);
    await open.page.locator('#exportXlsx').getByText('As a curl command').click();
    expect(await open.page.locator('#exportXlsx').textContent()).toContain('-o responses-xlsx.xlsx');
  });

  test('works with the keyboard alone', async () => {
    await using open = await openReference();
    const { keyboard } = open.page;
    const focused = () => open.page.evaluate<string>('document.activeElement.textContent');
    await keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the endpoints');
    await open.page.getByLabel('API key').focus();
    await keyboard.type(survey.account.key);
    await keyboard.press('Enter'); // must not submit the key's form
    await open.page.locator('#listResponses').getByLabel('survey', { exact: true }).focus();
    await keyboard.type(NAME);
    await keyboard.press('Enter');
    await open.page.getByText('Received status 200.').waitFor();
    expect(open.problems).toEqual([]);
  });
});
