import { beforeAll, expect, test } from 'vitest';
import { origin } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
} from '../support/data.ts';
import { expectAccessible, openDetails } from './accessible.ts';
import { focused, openPage, traces } from './browser.ts';

const NAME = `It's “Ümläut” & $(more)`;
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), NAME);
  const metadata = '{"id": 12345678901234567890123456789}';
  await addResponses(
    survey,
    Array.from({ length: 500 }, (_, i) => ({
      response: `answer ${i} ${'x'.repeat(100)}`,
      metadata,
    })),
  );
});

test('the reference sends a request with the key, which it stores nowhere, and shows the response with every digit', async () => {
  const page = await openPage('/docs');
  // With the keyboard alone.
  const { keyboard } = page;
  await keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the endpoints');
  await page.getByLabel('API key').focus();
  await keyboard.type(survey.account.key);
  await keyboard.press('Enter'); // must not submit the key's form
  const endpoint = page.locator('#listResponses');
  await endpoint.getByLabel('pageSize', { exact: true }).fill('2');
  await endpoint.getByLabel('survey', { exact: true }).focus();
  await keyboard.type(NAME);
  await keyboard.press('Enter');
  await endpoint.getByText('Received status 200.').waitFor();
  const body = await endpoint.getByRole('group', { name: 'Response body' }).textContent();
  expect(body).toContain('"id": 12345678901234567890123456789');
  expect((JSON.parse(body ?? '') as { responses: unknown[] }).responses).toHaveLength(2);
  await endpoint.getByText('Headers', { exact: true }).first().click();
  expect(await endpoint.getByRole('group', { name: 'Response headers' }).textContent()).toContain(
    'x-request-id',
  );
  await endpoint.getByPlaceholder('2026-04-01').fill('2026-04-01');
  expect(await page.content()).toContain('until=2026-04-01'); // in the curl command

  const left = [...(await traces(page)), await page.content()]; // with the curl command
  expect(left.filter((text) => text.includes(survey.account.key))).toEqual([]);
  await page.reload();
  expect(await page.getByLabel('API key').inputValue()).toBe('');

  // It lists the fields of a response, also of the objects in its arrays.
  const described = page
    .locator('#listQuestions .responses details')
    .filter({ hasText: 'The questions;' });
  await described.locator('summary').press('Enter');
  expect(
    await described.locator('p').filter({ hasText: 'Each element' }).allTextContents(),
  ).toEqual(['Each element of questions:', 'Each element of choices:']);
  const fields = await described
    .locator('dl')
    .evaluateAll((lists) => lists.map((list) => list.textContent));
  expect(fields[0]).toBe('questions array');
  expect(fields[1]).toContain('choices array or null');
  expect(fields[2]).toMatch(/^value string.*label string.+$/);
});

test('the reference is accessible, and reads only the beginning of a large file', async () => {
  const page = await openPage('/docs', {
    reducedMotion: 'reduce',
    provoked: /status of (500|401)/,
  });
  const endpoint = page.locator('#exportCsv');
  const fill = (name: string, value: string) =>
    endpoint.getByLabel(name, { exact: true }).fill(value);
  const click = (name: string) => endpoint.getByRole('button', { name }).click();
  await page.getByLabel('API key').fill(survey.account.key);
  await fill('survey', NAME);
  await click('Send request');
  await endpoint.getByText('Only the beginning of the response was read').waitFor();
  const shown = (await endpoint.getByRole('group', { name: 'Response body' }).textContent()) ?? '';
  const expected = await copyResponses(survey);
  expect(Buffer.byteLength(shown)).toBe(64 * 1024);
  expect(expected.toString().startsWith(shown)).toBe(true);
  await openDetails(page);
  await expectAccessible(page);
  await fill('userid', 'a\nb c');
  const command = await endpoint.getByRole('group', { name: 'curl command' }).textContent();
  expect(command).toContain(`-G ${origin()}/api/v1/responses/csv`);
  expect(command).toContain("--data-urlencode userid=a \\\n  --data-urlencode 'userid=b c'");

  await fill('survey', 'no such survey');
  await click('Send request');
  await endpoint.getByText('Received status 500.').waitFor();
  await page.getByLabel('API key').fill('wrong');
  await click('Send request');
  await endpoint.getByText('Received status 401.').waitFor();
});
