import { expect, test } from 'vitest';
import { type TestAccount, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { type Display, type OpenPage, openPage } from './browser.ts';
import { enterKey, expectNoProblems, hold, recordShifts } from './home.ts';

async function openSurveys(account: TestAccount, display: Display = {}): Promise<OpenPage> {
  const open = await openPage('/', display);
  await enterKey(open.page, account.key);
  await open.page.getByRole('heading', { name: 'Your surveys' }).waitFor();
  return open;
}

/** Creates surveys without responses, with one form each. The first is the newest. */
async function createSurveys(account: TestAccount, count: number): Promise<void> {
  await sql(
    `insert into surveys (userid, survey_name, shortcode, title, formid, created)
     select $1, 'Survey ' || i, 'short' || i, 'Title ' || i, '', now() - i * interval '1 hour' from generate_series(1, $2) i`,
    [account.id, count],
  );
}

test('lists every survey once, the newest first, with its forms and counts', async () => {
  const account = await createAccount();
  const old = await createSurvey(account, 'Old', 3); // the last version is created on 3 January
  const updated = await createSurvey(account, 'Updated', 4);
  await createSurvey(account, 'Empty', 1);
  await sql(`update surveys set title = shortcode where userid = $1 and survey_name = 'Empty'`, [account.id]);
  await addResponses(old, [
    { userid: 'a', timestamp: '2026-03-01T21:30:00Z' },
    { userid: 'a', timestamp: '2026-03-01T21:40:00Z', form: 2 },
    { userid: 'b', timestamp: '2026-03-01T21:20:00Z' },
  ]);
  await addResponses(updated, [{}]);
  await using open = await openSurveys(account, { timezoneId: 'Asia/Kolkata' });
  const rows = open.page.getByRole('listitem');
  await expect
    .poll(async () => (await rows.allInnerTexts()).map((text) => text.replaceAll('\n\n', '\n')))
    .toEqual([
      'Updated\n2 forms, 4 versions: Title 1 (f0), Title 3 (f1)\n1 participant\n1 answer\nlast answer 1 Mar 2026, 05:33',
      'Old\n2 forms, 3 versions: Title 1 (f0), Title 2 (f1)\n2 participants\n3 answers\nlast answer 2 Mar 2026, 03:10',
      'Empty\n1 form, 1 version: f0\n0 participants\n0 answers',
    ]);
  await open.page.getByRole('link', { name: 'Old' }).click();
  await open.page.getByRole('heading', { name: 'Old', level: 1 }).waitFor();
  expectNoProblems(open);
});

test('counts the visible surveys, two at a time, while the list stays usable and nothing moves', async () => {
  const account = await createAccount();
  await createSurveys(account, 40);
  await using open = await openPage('/', { width: 320, reducedMotion: 'reduce' }); // scrolls at once
  const { page } = open;
  const requested: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/summary')) requested.push(url.searchParams.get('survey') ?? '');
  });
  const counts = await hold(page, '/responses/summary');
  await enterKey(page, account.key);
  await expect.poll(() => counts.held).toBe(2);
  const shifts = await recordShifts(page);
  await page.getByLabel('Search').fill('survey 33');
  expect(await page.getByRole('listitem').count()).toBe(1);
  await page.getByLabel('Search').fill('');
  expect(counts.held).toBe(2);

  const before = await shifts();
  counts.release();
  const counted = page.getByRole('listitem').filter({ hasText: '0 answers' });
  const visible = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /^Survey [12]$/ }) });
  await expect.poll(() => visible.filter({ hasText: '0 answers' }).count()).toBe(await visible.count());
  expect((await shifts()) - before).toBe(0);
  expect(requested.length).toBeLessThan(15);

  await page.getByRole('link', { name: 'Survey 40', exact: true }).scrollIntoViewIfNeeded();
  await expect.poll(() => counted.getByText('Survey 40', { exact: true }).count()).toBe(1);
  expect(requested).not.toContain('Survey 20');

  // The counts are still known when one returns.
  await page.getByRole('link', { name: 'Survey 40', exact: true }).click();
  await page.getByRole('link', { name: 'All surveys' }).click();
  const first = page.getByRole('listitem').first();
  await first.waitFor();
  expect(await first.innerText()).toContain('0 answers');
  expect(requested.toSorted()).toEqual([...new Set(requested)].toSorted());
  expectNoProblems(open);
});

test('shows 50 of many surveys at a time, and finds them by name, form title and shortcode', async () => {
  const account = await createAccount();
  await createSurveys(account, 1000);
  await sql(`update surveys set survey_name = 'Saúde & ÁGUA' where userid = $1 and shortcode = 'short512'`, [
    account.id,
  ]);
  await using open = await openSurveys(account);
  const { page } = open;
  const links = page.getByRole('listitem').getByRole('link');
  await page.getByRole('button', { name: 'Show more (50 of 1,000 shown)' }).click();
  expect(await links.count()).toBe(100);
  expect(await page.evaluate<string>('document.activeElement.querySelector("a").textContent')).toBe('Survey 51');

  const search = async (text: string) => {
    await page.getByLabel('Search').fill(text);
    return links.allTextContents();
  };
  expect(await search('agua SAUDE')).toEqual(['Saúde & ÁGUA']);
  expect(await search('title 512')).toEqual(['Saúde & ÁGUA']);
  expect(await search('short512')).toEqual(['Saúde & ÁGUA']);
  expect(await search('nothing')).toEqual([]);
  expect(await page.getByRole('status').allTextContents()).toContain('0 of 1,000 surveys');
  expect(await search('title 99')).toHaveLength(19);
  expect(await page.getByRole('status').allTextContents()).toContain('19 of 1,000 surveys');

  // The search is kept after returning to the list.
  await page.getByRole('link', { name: 'Survey 999' }).click();
  await page.getByRole('heading', { name: 'Survey 999', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Survey 999' }).waitFor();
  expect(await page.getByLabel('Search').inputValue()).toBe('title 99');
  expectNoProblems(open);
});

test('sorts a long list, and returns to the same place in it, also after a reload', async () => {
  const account = await createAccount();
  await createSurveys(account, 300);
  await using open = await openPage('/', { reducedMotion: 'reduce' });
  const { page } = open;
  await page.getByLabel('Keep in this tab').check();
  await enterKey(page, account.key);
  await page.getByLabel('Sort by').selectOption('oldest form first');
  const links = page.getByRole('listitem').getByRole('link');
  expect(await links.first().textContent()).toBe('Survey 300');
  await page.getByLabel('Sort by').selectOption('name');
  expect(await links.nth(9).textContent()).toBe('Survey 10');
  for (let i = 0; i < 4; i++) await page.getByRole('button', { name: 'Show more' }).click();
  const link = page.getByRole('link', { name: 'Survey 230', exact: true });
  await link.scrollIntoViewIfNeeded();
  const top = async () => (await link.boundingBox())?.y;
  const before = await top();
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  const leave = async () => {
    await link.click();
    await page.getByRole('heading', { name: 'Survey 230', level: 1 }).waitFor();
  };
  const ways = [
    () => page.goBack(),
    () => page.getByRole('link', { name: 'All surveys' }).click(),
    () => page.reload().then(() => page.goBack()),
  ];
  for (const way of ways) {
    await leave();
    await way();
    await expect.poll(top).toBe(before);
    await expect.poll(focused).toBe('Survey 230');
    expect(await page.getByLabel('Sort by').inputValue()).toBe('name');
  }
  await page.evaluate(`document.querySelector('a[href="/docs"]').click()`); // does not scroll to the link
  await page.getByRole('heading', { name: 'API reference' }).waitFor();
  await page.goBack();
  await expect.poll(top).toBe(before);
  expectNoProblems(open);
});

test('aligns the rows with the heading, and wastes no line of a phone', async () => {
  const account = await createAccount();
  await createSurveys(account, 2);
  await using open = await openSurveys(account, { width: 320 });
  const { page } = open;
  const boxOf = (role: 'heading' | 'link' | 'button', name: string) => page.getByRole(role, { name }).boundingBox();
  expect((await boxOf('link', 'Survey 1'))?.x).toBe((await boxOf('heading', 'Your surveys'))?.x);
  const [button, link] = [await boxOf('button', 'Forget key'), await boxOf('link', 'For programmers')];
  expect(Math.abs((button?.y ?? 0) - (link?.y ?? 0))).toBeLessThan(10);
  expectNoProblems(open);
});

test('shows the focus of a row whole', async () => {
  const account = await createAccount();
  await createSurveys(account, 2);
  await using open = await openSurveys(account);
  await open.page.getByRole('link', { name: 'Survey 1' }).waitFor();
  await open.page.keyboard.press('Tab');
  await expect.poll(() => open.page.evaluate<string>('document.activeElement.textContent')).toBe('Survey 1');
  const ring = await open.page.evaluate<[style: string, offset: number, width: number]>(`(() => {
    const ringed = [document.activeElement, document.activeElement.closest('li')].find((node) => getComputedStyle(node).outlineStyle !== 'none');
    const { outlineStyle, outlineOffset, outlineWidth } = getComputedStyle(ringed);
    return [outlineStyle, ringed.localName === 'li' ? parseFloat(outlineOffset) : Infinity, parseFloat(outlineWidth)];
  })()`);
  expect(ring).toEqual(['solid', -3, 3]); // inside the row, which cuts off what is outside it
});

test('shows what to do after the list of surveys fails to load, and tries again on request', async () => {
  const account = await createAccount();
  await addResponses(await createSurvey(account, 'A'), [{}]);
  await using open = await openPage('/');
  const { page } = open;
  const abort = (path: string) => page.route(`**/api/v1${path}*`, (route) => route.abort(), { times: 1 });
  await abort('/surveys');
  await abort('/responses/summary');
  await enterKey(page, account.key);
  await page.getByText('The service cannot be reached. Check your connection, then try again.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('listitem').getByText('Could not be counted.').waitFor();
  await page.getByRole('listitem').getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('listitem').getByText('1 answer').waitFor();
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('A');
  expectNoProblems(open, /ERR_FAILED/);
});

test('shows that there are no surveys', async () => {
  await using open = await openSurveys(await createAccount());
  await open.page.getByText('There are no surveys yet.').waitFor();
  expectNoProblems(open);
});
