import { expect, test } from 'vitest';
import {
  type TestAccount,
  addResponses,
  createAccount,
  createSurvey,
  sql,
} from '../support/data.ts';
import { focused, openPage } from './browser.ts';
import { abortFirst, enterKey, hold, shiftsOf } from './home.ts';

/** Creates surveys without responses, with one form each. The first is the newest. */
async function createSurveys(account: TestAccount, count: number): Promise<void> {
  await sql(
    `insert into surveys (userid, survey_name, shortcode, title, formid, created)
     select $1, 'Survey ' || i, 'short' || i, 'Title ' || i, '', now() - i * interval '1 hour' from generate_series(1, $2) i`,
    [account.id, count],
  );
}

test('lists every survey once, the newest first, with its forms and counts, also after a failure, and shows if there are none', async () => {
  const account = await createAccount();
  const old = await createSurvey(account, 'Old', 3); // the last version is created on 3 January
  const updated = await createSurvey(account, 'Updated', 4);
  await createSurvey(account, 'Empty', 1);
  await sql(`update surveys set title = shortcode where userid = $1 and survey_name = 'Empty'`, [
    account.id,
  ]);
  await addResponses(old, [
    { userid: 'a', timestamp: '2026-03-01T21:30:00Z' },
    { userid: 'a', timestamp: '2026-03-01T21:40:00Z', form: 2 },
    { userid: 'b', timestamp: '2026-03-01T21:20:00Z' },
  ]);
  await addResponses(updated, [{}]);
  const page = await openPage('/', {
    timezoneId: 'Asia/Kolkata',
    provoked: /ERR_FAILED|status of 500/,
  });
  const rows = page.getByRole('listitem');
  await abortFirst(page, '/surveys');
  await abortFirst(page, '/responses/summary?survey=Updated');
  await enterKey(page, account.key);
  await page
    .getByText('The service cannot be reached. Check your connection, then try again.')
    .waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await rows.getByText('Could not be counted.').waitFor();
  await rows.getByRole('button', { name: 'Try again' }).click();
  await expect
    .poll(async () => (await rows.allInnerTexts()).map((text) => text.replaceAll('\n\n', '\n')))
    .toEqual([
      'Updated\n2 forms: Title 1 (f0), Title 3 (f1)\n1 participant\n1 answer\nlast answer 1 Mar 2026, 05:33',
      'Old\n2 forms: Title 1 (f0), Title 2 (f1)\n2 participants\n3 answers\nlast answer 2 Mar 2026, 03:10',
      'Empty\n1 form: f0\n0 participants\n0 answers',
    ]);
  expect(await focused(page)).toBe('Updated');

  await page.getByRole('button', { name: 'Forget key' }).click();
  await enterKey(page, (await createAccount()).key);
  await page.getByText('No surveys yet.').waitFor();
});

test('counts the visible surveys, two at a time, while the list stays usable and nothing moves', async () => {
  const account = await createAccount();
  await createSurveys(account, 40);
  const page = await openPage('/', { width: 320, reducedMotion: 'reduce' }); // scrolls at once
  const requested: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/summary')) requested.push(url.searchParams.get('survey') ?? '');
  });
  const counts = await hold(page, '/responses/summary');
  await enterKey(page, account.key);
  await expect.poll(() => counts.held).toBe(2);
  await page.getByLabel('Search').fill('survey 33');
  expect(await page.getByRole('listitem').count()).toBe(1);
  await page.getByLabel('Search').fill('');
  expect(counts.held).toBe(2);

  const before = await shiftsOf(page);
  counts.release();
  const counted = page.getByRole('listitem').filter({ hasText: '0 answers' });
  const visible = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: /^Survey [12]$/ }) });
  await expect
    .poll(() => visible.filter({ hasText: '0 answers' }).count())
    .toBe(await visible.count());
  expect((await shiftsOf(page)) - before).toBe(0);
  expect(requested.length).toBeLessThan(15);

  await page.getByRole('link', { name: 'Survey 40', exact: true }).scrollIntoViewIfNeeded();
  await expect.poll(() => counted.getByText('Survey 40', { exact: true }).count()).toBe(1);
  expect(requested).not.toContain('Survey 20');
});

test('shows 50 of many surveys at a time, finds and sorts them, and returns to the same place, also after a reload', async () => {
  const account = await createAccount();
  await createSurveys(account, 300);
  await sql(
    `update surveys set survey_name = 'Saúde & ÁGUA' where userid = $1 and shortcode = 'short212'`,
    [account.id],
  );
  const page = await openPage('/', { reducedMotion: 'reduce' });
  await page.getByLabel('Keep in this tab').check();
  await enterKey(page, account.key);
  const links = page.getByRole('listitem').getByRole('link');
  const more = page.getByRole('button', { name: 'Show more' });
  await page.getByRole('button', { name: 'Show more (50 of 300 shown)' }).click();
  expect(await links.count()).toBe(100);
  expect(await page.evaluate<string>('document.activeElement.querySelector("a").textContent')).toBe(
    'Survey 51',
  );

  const search = async (text: string) => {
    await page.getByLabel('Search').fill(text);
    return links.allTextContents();
  };
  for (const text of ['agua SAUDE', 'title 212', 'short212'])
    expect(await search(text)).toEqual(['Saúde & ÁGUA']);
  expect(await search('nothing')).toEqual([]);
  expect(await page.getByRole('status').allTextContents()).toContain('0 of 300 surveys');

  await search('survey'); // all but one
  await page.getByLabel('Sort by').selectOption('name');
  expect(await links.nth(9).textContent()).toBe('Survey 10');
  for (let i = 0; i < 4; i++) await more.click();
  const link = page.getByRole('link', { name: 'Survey 230', exact: true });
  await link.scrollIntoViewIfNeeded();
  const top = async () => (await link.boundingBox())?.y;
  const before = await top();
  const ways = [
    () => page.goBack(),
    () => page.getByRole('link', { name: 'All surveys' }).click(),
    () => page.reload().then(() => page.goBack()),
  ];
  for (const way of ways) {
    await link.click();
    await page.getByRole('heading', { name: 'Survey 230', level: 1 }).waitFor();
    await way();
    await expect.poll(top).toBe(before);
    await expect.poll(() => focused(page)).toBe('Survey 230');
    expect(await page.getByLabel('Sort by').inputValue()).toBe('name');
    expect(await page.getByLabel('Search').inputValue()).toBe('survey');
  }
  await page.goto(new URL('/openapi.json', page.url()).href);
  await page.goBack();
  await expect.poll(top).toBe(before);
});
