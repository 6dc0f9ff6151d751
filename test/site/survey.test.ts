import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { type Display, type OpenPage, openPage, saved } from './browser.ts';
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

test('shows the participants per day in the reader’s time zone, or the answers, as a chart and as a table', async () => {
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
  await using open = await openSurvey(survey, { timezoneId });
  const overview = open.page.getByRole('region', { name: 'Overview' });
  const chart = overview.getByRole('slider');
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
  for (const [measure, noun, name] of [
    ['participants', 'participant', 'Participants'],
    ['responses', 'answer', 'Answers'],
  ] as const) {
    await overview.getByRole('button', { name, exact: true }).click();
    await overview.getByText(`${name} per day`, { exact: true }).waitFor();
    const most = Math.max(...days.map((one) => one[measure]));
    const busiest = days.find((one) => one[measure] === most) as Day;
    expect(await chart.getAttribute('aria-label')).toBe(
      `${name} per day, from ${day.format(days[0]?.start)} to ${day.format(days.at(-1)?.start)}. ` +
        `Most: ${day.format(busiest.start)}, with ${counted(most, noun)}.`,
    );
    const scale = await chart.locator('.grid span').allTextContents();
    const top = Number(scale.at(-1));
    expect([scale[0], top >= most, top < 2 * most + 1]).toEqual(['0', true, true]);
    const heights = await chart.locator('.bar').evaluateAll((bars) => bars.map((bar) => bar.getAttribute('height')));
    expect(heights.map(Number)).toEqual(days.map((one) => (100 * one[measure]) / top));
  }
  expect(await chart.locator('.ticks span').allTextContents()).toEqual(['Jan 2026', 'Feb', 'Mar', '']); // no room for April

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

test('says of weeks and longer that a participant counts once for each day', async () => {
  const survey = await create();
  await addResponses(survey, [
    { userid: 'a', timestamp: '2026-01-31T12:00:00Z' },
    { userid: 'a', timestamp: '2026-01-30T12:00:00Z' },
    { userid: 'a', timestamp: '2026-05-31T12:00:00Z' },
  ]);
  await using open = await openSurvey(survey);
  const { page } = open;
  await page.getByText('Participants per week', { exact: true }).waitFor();
  await page.getByRole('slider').press('Home');
  await page.getByText('week of 26 Jan 2026: 2 participants, 2 answers', { exact: true }).waitFor();
  const note = page.getByText('Someone who answered on several days is counted once for each day.');
  expect(await note.isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Answers', exact: true }).click();
  expect(await note.isVisible()).toBe(false);
  expectNoProblems(open);
});

/** Three participants on 1 March, one on 2 March with two answers, none on 3 March, two on 4 March. */
async function createFourDays(): Promise<TestSurvey> {
  const survey = await create();
  await addResponses(survey, [
    ...['a', 'b', 'c'].map((userid) => ({ userid, timestamp: '2026-03-01T10:00:00Z' })),
    ...['q', 'r'].map((question_ref) => ({ userid: 'a', question_ref, timestamp: '2026-03-02T10:00:00Z' })),
    ...['a', 'd'].map((userid) => ({ userid, timestamp: '2026-03-04T10:00:00Z' })),
  ]);
  return survey;
}

/** The days in the fields of the form, and how many bars the chart shows as not selected. */
const selectedDays = async ({ page }: OpenPage) => [
  await page.getByLabel('From', { exact: true }).inputValue(),
  await page.getByLabel('To', { exact: true }).inputValue(),
  await page.locator('.bar.out').count(),
];

test('a bar that is pointed at, tapped or reached with a key shows its numbers', async () => {
  await using open = await openSurvey(await createFourDays(), { width: 320, hasTouch: true });
  const { page } = open;
  const chart = page.getByRole('slider');
  const box = await chart.locator('svg').boundingBox();
  if (!box) throw new Error('The chart has no size.');
  const at = (bar: number) => [box.x + ((bar + 0.5) * box.width) / 4, box.y + box.height / 3] as const;
  const readout = page.locator('.readout');
  await page.touchscreen.tap(...at(1));
  await expect.poll(() => readout.textContent()).toBe('2 Mar 2026: 1 participant, 2 answers');
  await page.mouse.move(...at(2));
  await expect.poll(() => readout.textContent()).toBe('3 Mar 2026: 0 participants, 0 answers');
  await chart.press('ArrowRight');
  expect(await chart.getAttribute('aria-valuetext')).toBe('4 Mar 2026: 2 participants, 2 answers');
  await chart.press('Home');
  expect(await chart.getAttribute('aria-valuetext')).toBe('1 Mar 2026: 3 participants, 3 answers');
  expect(await readout.textContent()).toBe('1 Mar 2026: 3 participants, 3 answers');
  expect(await selectedDays(open)).toEqual(['', '', 0]);
  expectNoProblems(open);
});

test('a drag over bars selects their days for the download, as do arrow keys with Shift', async () => {
  await using open = await openSurvey(await createFourDays(), { timezoneId: 'Pacific/Auckland' }); // 13 hours ahead of UTC
  const { page } = open;
  const chart = page.getByRole('slider');
  const box = await chart.locator('svg').boundingBox();
  if (!box) throw new Error('The chart has no size.');
  const move = (bar: number) => page.mouse.move(box.x + ((bar + 0.5) * box.width) / 4, box.y + 20);
  await move(2);
  await page.mouse.down();
  await move(1);
  expect(await selectedDays(open)).toEqual(['', '', 2]);
  await page.mouse.up();
  expect(await selectedDays(open)).toEqual(['2026-03-02', '2026-03-03', 2]);
  await page.getByText('Selected: 1 participant, 2 answers', { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('since')).toBe('2026-03-01T11:00:00.000Z');

  await chart.press('Escape');
  expect(await selectedDays(open)).toEqual(['', '', 0]);
  // Escape also ends a selection that has not been finished.
  await chart.press('End');
  await page.keyboard.down('Shift');
  await page.keyboard.press('ArrowLeft');
  expect(await selectedDays(open)).toEqual(['', '', 2]);
  await page.keyboard.press('Escape');
  expect(await selectedDays(open)).toEqual(['', '', 0]);
  await page.keyboard.up('Shift');
  expect(await selectedDays(open)).toEqual(['', '', 0]);
  await move(0);
  await page.mouse.down();
  await move(1);
  await page.keyboard.press('Escape');
  await move(2);
  await page.mouse.up();
  expect(await selectedDays(open)).toEqual(['', '', 0]);

  await chart.press('End');
  await chart.press('Shift+ArrowLeft');
  expect(await selectedDays(open)).toEqual(['2026-03-03', '2026-03-04', 2]);
  await page.getByText('Selected: 2 participants, 2 answers', { exact: true }).waitFor();

  await page.getByLabel('From', { exact: true }).fill('2026-03-04'); // the chart follows the form
  expect(await selectedDays(open)).toEqual(['2026-03-04', '2026-03-04', 3]);
  expectNoProblems(open);
});

test('shows the days of UTC, and names it, if the service does not know the reader’s time zone', async () => {
  const survey = await create();
  await addResponses(survey, [{ timestamp: '2026-03-01T23:30:00Z' }]);
  await using open = await openSurvey(survey, { timezoneId: 'GMT+3' });
  await open.page.getByText('Participants per day (in the time zone UTC)').waitFor();
  await open.page.getByText('Times are in the time zone +03:00.', { exact: true }).waitFor();
  await open.page.getByRole('slider', { name: 'from 1 Mar 2026 to 1 Mar 2026' }).waitFor();
  await open.page.getByText('2 Mar 2026, 02:30').first().waitFor();
  expectNoProblems(open, /status of 400/);
});

test('lists the questions with the share of participants who answered, 50 at a time, and finds one of 1,200', async () => {
  const survey = await create();
  await addMany(survey, 2600, 60, 1200);
  const expected = await sql<{ text: string; ref: string; responses: string; participants: string }>(
    `select question_text as text, question_ref as ref, count(*) as responses, count(distinct userid) as participants
     from responses where surveyid = any($1::uuid[]) group by 1, 2, question_idx order by question_idx`,
    [survey.forms.map(({ id }) => id)],
  );
  const [{ all } = { all: 0 }] = await sql<{ all: number }>(
    'select count(distinct userid)::int as all from responses where surveyid = any($1::uuid[])',
    [survey.forms.map(({ id }) => id)],
  );
  const rows = expected.map(({ text, ref, responses, participants }) => [
    text,
    `${ref} · f0`,
    `${Math.round((100 * Number(participants)) / all)}%`,
    counted(Number(participants), 'participant'),
    responses === participants ? '' : counted(Number(responses), 'answer'),
  ]);
  const lines = rows.map((row) => row.filter((text) => text !== ''));
  await using open = await openSurvey(survey);
  const questions = open.page.getByRole('region', { name: 'Questions' });
  const shown = async () => {
    const texts = await questions.locator('tbody tr').allInnerTexts();
    return texts.map((text) => text.split(/[\n\t]+/));
  };
  await questions.getByText('1,200 questions', { exact: true }).waitFor();
  expect(await shown()).toEqual(lines.slice(0, 50));
  const bars = await questions
    .locator('.share')
    .evaluateAll((shares) =>
      shares.map((share) => Math.round((100 * (share.firstElementChild?.clientWidth ?? 0)) / share.clientWidth)),
    );
  for (const [i, { participants }] of expected.slice(0, 50).entries())
    expect(Math.abs((bars[i] ?? 0) - (100 * Number(participants)) / all)).toBeLessThan(2);
  await questions.getByRole('button', { name: 'Show more' }).click();
  expect(await shown()).toEqual(lines.slice(0, 100));
  await questions.getByLabel('Search the questions').fill('QUESTION 1021');
  expect(await shown()).toEqual(lines.slice(1021, 1022));
  await questions.getByText('1 of 1,200 questions').waitFor();
  expectNoProblems(open);
});

test('downloads the codebook with one click', async () => {
  const survey = await create();
  await addResponses(survey, [{ question_text: 'How often?' }]);
  await using open = await openSurvey(survey);
  const button = open.page.getByRole('button', { name: 'Download codebook' });
  const { bytes } = await saved(open.page, () => button.click());
  const expected = await fetchApi(
    `/responses/questions${query({ survey: survey.name, format: 'csv' })}`,
    survey.account,
  );
  expect(bytes).toEqual(expected.bytes);
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

test('shows the newest answers by participant, older ones on request, and new ones after a check', async () => {
  const survey = await create();
  await addMany(survey, 60, 40_000);
  /** The answers in pages of 25, the newest first, with their participants in the order of their newest answers. */
  const pages = async () => {
    const rows = await sql<{ userid: string; text: string }>(
      `select userid, question_text || '|' || coalesce(translated_response || '|Translated from:|', '') || response as text
       from responses where surveyid = any($1::uuid[])
       order by timestamp desc, userid collate "C" desc, question_ref collate "C" desc, surveyid desc`,
      [survey.forms.map(({ id }) => id)],
    );
    return [rows.slice(0, 25), rows.slice(25, 50), rows.slice(50)].map((page) =>
      [...Map.groupBy(page, ({ userid }) => userid)].map(([userid, of]) =>
        [`Participant ${userid}`, 'Form f0'].concat(of.map(({ text }) => text)),
      ),
    );
  };
  await using open = await openSurvey(survey);
  const newest = open.page.getByRole('region', { name: 'Newest answers' });
  const shown = async () => {
    const people = await newest.locator('.people > li').all();
    return Promise.all(
      people.map(async (person) => {
        const texts = await person.locator('.from > span, .answers > li > div').allInnerTexts();
        return texts.map((text) => text.replaceAll(/\n+/g, '|'));
      }),
    );
  };
  const expected = await pages();
  for (const count of [1, 2, 3]) {
    await expect.poll(() => newest.locator('.people').count()).toBe(count);
    expect(await shown()).toEqual(expected.slice(0, count).flat());
    if (count < 3) await newest.getByRole('button', { name: 'Show more' }).click();
  }
  expect(await newest.getByRole('button', { name: 'Show more' }).count()).toBe(0);

  await addResponses(survey, [{ timestamp: '2026-11-01T12:00:00Z', userid: 'late', response: 'New' }]);
  await newest.getByRole('button', { name: 'Check for new answers' }).click();
  await newest.getByText('late', { exact: true }).waitFor();
  expect(await newest.locator('.people > li').first().innerText()).toMatch(
    /late.*Form f0.*Question\?\s*New\s*1 Nov 2026/su,
  );
  expect(await shown()).toEqual((await pages())[0]);
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
  expect((await newest.locator('.text').allTextContents()).map((text) => text.slice(0, 9999))).toContain(
    long.slice(0, 9999),
  );
  await newest.getByRole('button', { name: 'Show all 424 characters' }).click();
  await newest.getByText('?'.repeat(400)).waitFor();
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  const less = newest.getByRole('button', { name: 'Show less' }).first();
  await less.press('Enter');
  await less.press('Enter');
  expect(await newest.locator('.text').allTextContents()).toEqual(texts);
  expectNoProblems(open);
});

test.each([
  { from: 'a link', path: pathOf, held: ['/responses/summary', '/responses/questions'] },
  { from: 'the list', path: () => '/', held: ['/responses/questions', '/responses?'] },
])('moves nothing while the parts of a survey arrive, opened from $from', async ({ from, path, held }) => {
  const survey = await create();
  await addMany(survey, 100, 40_000, 20);
  await using open = await openPage(path(survey));
  const { page } = open;
  await page.setViewportSize({ width: 1280, height: 2000 }); // all parts are in view
  const parts = { '/responses/summary': 'slider', '/responses/questions': 'row', '/responses?': 'listitem' } as const;
  const content = (part: string) => page.getByRole(parts[part as keyof typeof parts]).first();
  if (from === 'the list') {
    await enterKey(page, survey.account.key);
    await page.getByText('100 answers').waitFor();
  }
  const gates = await Promise.all(held.map((part) => hold(page, part)));
  if (from === 'the list') await page.getByRole('link', { name: survey.name }).click();
  else await enterKey(page, survey.account.key);
  await expect.poll(() => gates[0]?.held).toBe(1);
  const shifts = await recordShifts(page);
  for (const [i, gate] of gates.entries()) {
    gate.release();
    if (held[i] !== '/responses/questions') await content(held[i] ?? '').waitFor();
  }
  await page.getByText('20 questions').waitFor();
  expect(await shifts()).toBe(0);
});

test('shows what to do after a part of a survey fails to load, and tries again on request', async () => {
  const survey = await create();
  await addResponses(survey, [{}]);
  await using open = await openPage(pathOf(survey));
  const { page } = open;
  const fail = (path: string) => page.route(`**/api/v1/responses${path}*`, (route) => route.abort(), { times: 1 });
  const retry = async (part: Locator, result: string) => {
    await part.getByText('The service cannot be reached. Check your connection, then try again.').first().waitFor();
    await part.getByRole('button', { name: 'Try again' }).click();
    await part.getByText(result, { exact: true }).waitFor();
    expect(await part.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  };
  const region = (name: string) => page.getByRole('region', { name });
  await fail('?');
  await enterKey(page, survey.account.key);
  await fail('/summary');
  await page.getByRole('article').getByRole('button', { name: 'Try again' }).click();
  await retry(region('Overview'), 'Participants per day');
  await retry(region('Questions'), 'Question?');
  await fail('?');
  await page.getByRole('button', { name: 'Check for new answers' }).click();
  await retry(region('Newest answers'), 'Answer');
  expectNoProblems(open, /ERR_FAILED/);
});

test('a survey without answers is one sentence, one failed request, and a look for new ones', async () => {
  const survey = await create();
  await using open = await openSurvey(survey);
  const { page } = open;
  await page.getByText('This survey has no answers yet.', { exact: true }).waitFor();
  expect(await page.getByRole('region', { name: /Overview|Questions|Newest/ }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Download answers' }).count()).toBe(0);
  expect(open.problems).toHaveLength(1);

  // The list counts it; to open it from there takes no other request that fails.
  await page.getByRole('link', { name: 'All surveys' }).click();
  await page.getByText('0 answers').waitFor();
  await page.getByRole('link', { name: survey.name }).click();
  await page.getByText('This survey has no answers yet.', { exact: true }).waitFor();
  expect(open.problems).toHaveLength(2);
  expectNoProblems(open);

  await addResponses(survey, [{ response: 'The first' }]);
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText('The first', { exact: true }).waitFor();
  await page.getByRole('slider', { name: 'Participants per day' }).waitFor();
});

test('a survey that was empty when the list counted it shows what has arrived since', async () => {
  const survey = await create();
  await using open = await openPage('/');
  const { page } = open;
  await page.clock.install();
  await enterKey(page, survey.account.key);
  await page.getByText('0 answers').waitFor();
  await addResponses(survey, [{ response: 'The first' }]);
  await page.clock.runFor(3_600_000);
  await page.getByRole('link', { name: survey.name }).click();
  await page.getByText('The first', { exact: true }).waitFor();
  expectNoProblems(open);
});

test('a survey that the key does not have is called unknown', async () => {
  await using open = await openPage('/?survey=Slep');
  await enterKey(open.page, (await create()).account.key);
  await open.page.getByText('This key gives access to no survey with this name.').waitFor();
  expectNoProblems(open);
});

test('what the list has counted is shown at once, and the same numbers are counted once', async () => {
  const survey = await create();
  await addResponses(survey, [{ userid: 'a' }, { userid: 'b', form: 1 }]);
  await using open = await openPage('/');
  const { page } = open;
  const searches: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith('/summary')) searches.push(search);
  });
  await page.clock.install();
  await enterKey(page, survey.account.key);
  await page.getByText('2 answers').waitFor();
  await page.getByRole('link', { name: survey.name }).click();
  await page.getByRole('slider').waitFor();
  await page.clock.runFor(1000);
  await page.getByText('Selected: 2 participants, 2 answers', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Questions' }).getByText('50%').first().waitFor();
  expect(searches).toHaveLength(1);

  // After a minute they are counted again; the old numbers are shown meanwhile.
  await page.getByRole('link', { name: 'All surveys' }).click();
  await page.getByText('2 answers').waitFor();
  const summary = await hold(page, '/responses/summary');
  await page.clock.runFor(61_000);
  await page.getByRole('link', { name: survey.name }).click();
  await page.getByText('Counting 2 answers…').waitFor();
  expect(await page.locator('.facts dd').first().textContent()).toBe('2');
  summary.release();
  await page.getByRole('slider').waitFor();
  await page.clock.runFor(1000);
  await page.getByText('Selected: 2 participants, 2 answers', { exact: true }).waitFor();
  expect(searches).toHaveLength(2);
  expectNoProblems(open);
});

test('a survey that is opened while the list counts it is not counted twice', async () => {
  const survey = await create();
  await addResponses(survey, [{}]);
  await using open = await openPage('/');
  const { page } = open;
  const summary = await hold(page, '/responses/summary');
  await enterKey(page, survey.account.key);
  await expect.poll(() => summary.held).toBe(1);
  await page.getByRole('link', { name: survey.name }).click();
  await page.getByText('Counting the answers…').waitFor();
  summary.release();
  await page.getByText('Selected: 1 participant, 1 answer', { exact: true }).waitFor();
  expect(summary.held).toBe(1);
  expectNoProblems(open);
});
