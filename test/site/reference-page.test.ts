import { expect, test } from 'vitest';
import { origin } from '../support/api.ts';
import { copyResponses, storeSurvey } from '../support/data.ts';
import { openPage, traces } from './browser.ts';

test('opens the operation of a link, and sends a request with the key, which it stores nowhere', async () => {
  const survey = await storeSurvey(
    Array.from({ length: 500 }, (_, i) => ({
      response: `answer ${i} ${'x'.repeat(100)}`,
      metadata: '{"id": 12345678901234567890123456789}',
    })),
    { name: `It's “Ümläut” & $(more)` },
  );
  const { key } = survey.account;
  const page = await openPage('/docs/#/Responses/exportCsv', { colorScheme: 'dark', width: 375 });
  /** An operation of the reference. */
  const operation = (id: string) => page.locator(`[id^=operations-][id$=-${id}]`);
  await operation('exportCsv').getByRole('button', { name: 'Execute' }).waitFor();
  await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(0);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);

  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const dark = await ground();
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(ground).not.toBe(dark);

  await page.getByRole('button', { name: 'Authorize' }).click();
  const field = page.locator('.auth-container input');
  expect(await field.getAttribute('type')).toBe('password');
  await field.fill(key);
  await field.press('Enter');
  await page.getByRole('button', { name: 'Close' }).last().click();

  /** Sends the request of an operation that is open. @returns what is shown of the response */
  const send = async (id: string, values: Readonly<Record<string, string>>) => {
    const place = operation(id);
    for (const [name, value] of Object.entries(values))
      await place.getByPlaceholder(name, { exact: true }).fill(value);
    await place.getByRole('button', { name: 'Execute' }).click();
    const shown = place.locator('.live-responses-table .highlight-code code');
    await shown.waitFor();
    return {
      command: await place.locator('.responses-inner code').first().innerText(),
      body: (await shown.textContent()) ?? '',
    };
  };
  // only the beginning of a large response
  const { body } = await send('exportCsv', { survey: survey.name });
  const expected = String(await copyResponses(survey));
  expect(body.length).toBeLessThan(70_000);
  expect(expected.startsWith(body)).toBe(true);
  await page.getByText('Only the beginning of the response was read.').waitFor();

  await operation('listResponses').locator('.opblock-summary-control').click();
  const responses = await send('listResponses', { survey: survey.name, pageSize: '2' });
  expect(responses.body).toContain('"id": 12345678901234567890123456789'); // with every digit
  expect((JSON.parse(responses.body) as { responses: unknown[] }).responses).toHaveLength(2);
  // with what was entered and nothing else
  expect(responses.command).toContain(`-G ${origin()}/api/v1/responses \\\n`);
  expect(responses.command.match(/--data-urlencode/g)).toHaveLength(2);

  const left = [...(await traces(page)), await page.content()]; // with the curl commands
  expect(left.filter((text) => text.includes(key))).toEqual([]);
  await page.reload();
  await page.locator('.btn.authorize.unlocked').waitFor();
});
