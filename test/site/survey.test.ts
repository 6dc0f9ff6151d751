import { expect, test } from 'vitest';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { type Display, type OpenPage, openPage } from './browser.ts';
import { enterKey, expectNoProblems, hold, recordShifts } from './home.ts';

const create = async () => createSurvey(await createAccount(), 'Sleep', 2);

const pathOf = ({ name }: TestSurvey) => `/?survey=${encodeURIComponent(name)}`;

async function openSurvey(survey: TestSurvey, display: Display = {}): Promise<OpenPage> {
  const open = await openPage(pathOf(survey), display);
  await enterKey(open.page, survey.account.key);
  await open.page.getByRole('link', { name: 'All surveys' }).waitFor();
  return open;
}

/** Adds responses to both form versions, some of them on most days. @param step seconds between them */
async function addMany(survey: TestSurvey, count: number, step: number, questions = 7): Promise<void> {
  await sql(
    `insert into responses (surveyid, shortcode, parent_shortcode, flowid, userid, question_ref, question_idx, question_text,
       response, translated_response, timestamp)
     select ($1::uuid[])[1 + i % 2], 'f0', 'f0', 1, 'user ' || i * i % 11, 'q' || i % $4, i % $4, 'Question ' || i % $4 || '?',
       'Answer ' || i, case when i % 3 = 0 then 'Translation ' || i end,
       '2026-01-05T03:10:00Z'::timestamptz + i * $3 * (1 + sin(i)) * interval '1 s'
     from generate_series(1, $2) i`,
    [survey.forms.map(({ id }) => id), count, step, questions],
  );
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

interface Day {
  readonly start: Date;
  readonly responses: number;
  readonly participants: number;
}

/** The numbers per day of a time zone, also of days without responses. */
function daysOf(survey: TestSurvey, zone: string): Promise<Day[]> {
  return sql<Day>(
    `with answered as (
       select date_trunc('day', timestamp at time zone $2) as start, userid from responses where surveyid = any($1::uuid[])
     )
     select start at time zone 'UTC' as start, count(userid)::int as responses, count(distinct userid)::int as participants
     from (select generate_series(min(start), max(start), '1 day') as start from answered) series
       left join answered using (start)
     group by start order by start`,
    [survey.forms.map(({ id }) => id), zone],
  );
}

test('shows the responses per day in the reader’s time zone, as a chart and as a table', async () => {
  const survey = await create();
  await addMany(survey, 200, 20_000);
  const timezoneId = 'America/St_Johns'; // 3.5 hours behind UTC, and 2.5 in summer
  const days = await daysOf(survey, timezoneId);
  const [{ first, last } = { first: '', last: '' }] = await sql<{ first: string; last: string }>(
    `select to_char(min(timestamp) at time zone $2, 'FMDD Mon YYYY, HH24:MI') as first,
       to_char(max(timestamp) at time zone $2, 'FMDD Mon YYYY, HH24:MI') as last
     from responses where surveyid = any($1::uuid[])`,
    [survey.forms.map(({ id }) => id), timezoneId],
  );
  const most = Math.max(...days.map(({ responses }) => responses));
  await using open = await openSurvey(survey, { timezoneId });
  const overview = open.page.getByRole('region', { name: 'Overview' });
  const chart = overview.getByRole('img');
  await chart.waitFor();

  expect((await overview.locator('dl').innerText()).split(/\n+/)).toEqual([
    'Participants',
    '6',
    'Answers',
    '200',
    'First answer',
    first,
    'Last answer',
    last,
  ]);
  await overview.getByText('Times are in the time zone America/St Johns.').waitFor();
  await overview.getByText('Answers per day', { exact: true }).waitFor();
  const busiest = days.find(({ responses }) => responses === most) as Day;
  expect(await chart.getAttribute('aria-label')).toBe(
    `Answers per day, from ${day.format(days[0]?.start)} to ${day.format(days.at(-1)?.start)}. ` +
      `Most: ${day.format(busiest.start)}, with ${most} answers.`,
  );
  expect(await chart.locator('title').allTextContents()).toEqual(
    days.map(({ start, responses }) => `${day.format(start)}: ${counted(responses, 'answer')}`),
  );
  const heights = await chart.locator('.bar').evaluateAll((bars) => bars.map((bar) => bar.getAttribute('height')));
  expect(heights.map(Number)).toEqual(days.map(({ responses }) => (100 * responses) / most));

  await overview.getByText('Numbers per day, as a table').click();
  await overview.getByRole('button', { name: 'Show more' }).click();
  const rows = overview.locator('tbody tr');
  expect((await rows.allInnerTexts()).map((text) => text.split('\t'))).toEqual(
    days
      .filter(({ responses }) => responses > 0)
      .map(({ start, responses, participants }) => [day.format(start), String(participants), String(responses)]),
  );
  expectNoProblems(open);
});

test('shows the days of UTC, and names it, if the service does not know the reader’s time zone', async () => {
  const survey = await create();
  await addResponses(survey, [{ timestamp: '2026-03-01T23:30:00Z' }]);
  await using open = await openSurvey(survey, { timezoneId: 'GMT+3' });
  await open.page.getByText('Answers per day (in the time zone UTC)').waitFor();
  await open.page.getByText('Times are in the time zone +03:00.', { exact: true }).waitFor();
  await open.page.getByRole('img', { name: 'from 1 Mar 2026 to 1 Mar 2026' }).waitFor();
  await open.page.getByText('2 Mar 2026, 02:30').first().waitFor();
  expectNoProblems(open, /status of 400/);
});

test('lists the questions with their numbers, 50 at a time, and finds one of 1,200', async () => {
  const survey = await create();
  await addMany(survey, 2600, 60, 1200);
  const expected = await sql<{ text: string; ref: string; responses: string; participants: string }>(
    `select question_text as text, question_ref as ref, count(*) as responses, count(distinct userid) as participants
     from responses where surveyid = any($1::uuid[]) group by 1, 2, question_idx order by question_idx`,
    [survey.forms.map(({ id }) => id)],
  );
  const lines = expected.map(({ text, ref, responses, participants }) => [
    text,
    `${ref} · f0`,
    participants,
    responses,
  ]);
  await using open = await openSurvey(survey);
  const questions = open.page.getByRole('region', { name: 'Questions' });
  const shown = async () => {
    const texts = await questions.locator('tbody tr').allInnerTexts();
    return texts.map((text) => text.split(/[\n\t]+/));
  };
  await questions.getByText('1,200 questions', { exact: true }).waitFor();
  expect(await shown()).toEqual(lines.slice(0, 50));
  await questions.getByRole('button', { name: 'Show more' }).click();
  expect(await shown()).toEqual(lines.slice(0, 100));
  await questions.getByLabel('Search the questions').fill('QUESTION 1021');
  expect(await shown()).toEqual(lines.slice(1021, 1022));
  await questions.getByText('1 of 1,200 questions').waitFor();
  expectNoProblems(open);
});

test('lists the choices of a question on request, as text', async () => {
  const survey = await create();
  const labels = ['<img src=x onerror=alert(1)>', 'نعم <b>', `نعم ${'long'.repeat(200)}`];
  const lines = labels.map((label, i) => `\n${'abc'[i]}) ${label}`);
  await addResponses(survey, [{ question_text: `Which?${lines.join('')}` }]);
  await using open = await openSurvey(survey, { width: 320 });
  const { page } = open;
  const questions = page.getByRole('region', { name: 'Questions' });
  await questions.getByText('3 choices', { exact: true }).press('Enter');
  const choices = questions.getByRole('listitem');
  expect(await choices.allInnerTexts()).toEqual([
    `A = ${labels[0]}`,
    `B = ${labels[1]}`,
    `C = ${labels[2]?.slice(0, 300)}…`,
  ]);
  expect(await choices.locator('bdi:dir(rtl)').count()).toBe(2); // each has the direction of its own text
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  expectNoProblems(open);
});

test('shows the newest responses, older ones on request, and new ones after a check', async () => {
  const survey = await create();
  await addMany(survey, 60, 40_000);
  const newestFirst = async () => {
    const rows = await sql<{ text: string }>(
      `select question_text || '|' || coalesce(translated_response || '|Translated from:|', '') || response as text
       from responses where surveyid = any($1::uuid[])
       order by timestamp desc, userid collate "C" desc, question_ref collate "C" desc, surveyid desc`,
      [survey.forms.map(({ id }) => id)],
    );
    return rows.map(({ text }) => text);
  };
  await using open = await openSurvey(survey);
  const newest = open.page.getByRole('region', { name: 'Newest answers' });
  const shown = async () => {
    const texts = await newest.getByRole('listitem').locator(':scope > div:last-child').allInnerTexts();
    return texts.map((text) => text.replaceAll(/\n+/g, '|'));
  };
  const expected = await newestFirst();
  for (const count of [25, 50, 60]) {
    await expect.poll(() => newest.getByRole('listitem').count()).toBe(count);
    expect(await shown()).toEqual(expected.slice(0, count));
    if (count < 60) await newest.getByRole('button', { name: 'Show more' }).click();
  }
  expect(await newest.getByRole('button', { name: 'Show more' }).count()).toBe(0);

  await addResponses(survey, [{ timestamp: '2026-11-01T12:00:00Z', userid: 'late', response: 'New' }]);
  await newest.getByRole('button', { name: 'Check for new answers' }).click();
  await newest.getByText('late', { exact: true }).waitFor();
  expect(await newest.getByRole('listitem').first().innerText()).toMatch(/^1 Nov 2026.*Form f0.*Question\?\s*New$/su);
  expect(await shown()).toEqual((await newestFirst()).slice(0, 25));
  expectNoProblems(open);
});

test('shows hostile texts as text, cut, and more of them on request', async () => {
  const name = '‮<script>throw 1</script> استبيان';
  const survey = await createSurvey(await createAccount(), name);
  const long = `<img src=x onerror=alert(1)>${'\u0301'.repeat(100)}${'नींद 👍🏽 '.repeat(150_000)}`;
  await addResponses(survey, [
    { response: long, question_ref: '<b>', question_text: `<script>throw 2</script>${'?'.repeat(400)}` },
    { response: '\u202etxet desrever', userid: 'مشارك <i>\u202e', question_ref: 'b', question_text: 'سؤال' },
    { response: 'line\n'.repeat(1000), question_ref: 'c', question_text: 'C' },
    { response: '', question_ref: 'd', question_text: 'D' },
  ]);
  await using open = await openSurvey(survey, { width: 320 });
  const { page } = open;
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
  const newest = page.getByRole('region', { name: 'Newest answers' });
  await newest.getByText('(empty)').waitFor();
  const texts = await newest.locator('.text').allTextContents();
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(301);
  expect(texts).toContain(`${long.slice(0, 300)}…`);
  expect(texts).toContain('\u202etxet desrever');
  expect(texts).toContain(`${'line\n'.repeat(5)}line…`);
  const rightToLeft = newest.locator('bdi:dir(rtl)'); // each has the direction of its own text
  expect(await rightToLeft.allTextContents()).toEqual(['مشارك <i>\u202e', 'سؤال']);

  await newest.getByRole('button', { name: /^Show the first 10,000 of 1,\d{3},\d{3} characters/ }).click();
  expect((await newest.getByRole('group', { name: 'Answer' }).textContent())?.slice(0, 9999)).toBe(long.slice(0, 9999));
  await newest.getByRole('button', { name: 'Show all 424 characters' }).click();
  await newest.getByText('?'.repeat(400)).waitFor();
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  const less = newest.getByRole('button', { name: 'Show less' }).first();
  await less.press('Enter');
  await less.press('Enter');
  expect(await newest.locator('.text').allTextContents()).toEqual(texts);
  expectNoProblems(open);
});

test('moves nothing while the parts of a survey arrive, in any order', async () => {
  const survey = await create();
  await addMany(survey, 100, 40_000, 20);
  await using open = await openPage(pathOf(survey));
  const { page } = open;
  const paths = ['/responses?', '/responses/questions', '/responses/summary'];
  const parts = await Promise.all(paths.map((path) => hold(page, path)));
  await enterKey(page, survey.account.key);
  await expect.poll(() => parts.map(({ held }) => held)).toEqual([1, 1, 1]);
  const shifts = await recordShifts(page);
  const [newest, questions, summary] = parts;
  newest?.release();
  await page.getByRole('listitem').first().waitFor();
  questions?.release();
  await page.getByText('20 questions').waitFor();
  summary?.release();
  await page.getByRole('img', { name: 'Answers per day' }).waitFor();
  expect(await shifts()).toBe(0);
});

test('shows what to do after a survey fails to load, and tries again on request', async () => {
  const survey = await create();
  await addResponses(survey, [{}]);
  await using open = await openPage(pathOf(survey));
  const { page } = open;
  for (const path of ['?*', '/questions*', '/summary*']) {
    await page.route(`**/api/v1/responses${path}`, (route) => route.abort(), { times: 1 });
  }
  await enterKey(page, survey.account.key);
  for (const [name, result] of [
    ['Overview', 'Answers per day'],
    ['Questions', 'Question?'],
    ['Newest answers', 'Answer'],
  ] as const) {
    const part = page.getByRole('region', { name });
    await part.getByText('The service cannot be reached. Check your connection, then try again.').waitFor();
    await part.getByRole('button', { name: 'Try again' }).click();
    await part.getByText(result, { exact: true }).waitFor();
    expect(await part.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  }
  expectNoProblems(open, /ERR_FAILED/);
});

test('shows that a survey has no answers', async () => {
  await using open = await openSurvey(await create());
  const sentence = open.page.getByText('This survey has no answers yet, or your key has no access to it.');
  await expect.poll(() => sentence.count()).toBe(3);
  expect(await open.page.locator('.facts dd').allTextContents()).toEqual(['0', '0', '–', '–']);
  expect(await open.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  expectNoProblems(open);
});
