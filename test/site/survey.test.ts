import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  type TestResponse,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
} from '../support/data.ts';
import { openPage, saved } from './browser.ts';
import {
  abortFirst,
  enterKey,
  fileOf,
  hold,
  openSurvey,
  openView,
  press,
  selected,
} from './home.ts';

const create = async () => createSurvey(await createAccount(), 'Sleep', 2);

const pathOf = ({ name }: TestSurvey) => `/?survey=${encodeURIComponent(name)}`;

/** Responses to both form versions, a minute apart, the oldest first. */
const minutely = (count: number, questions: number) =>
  Array.from({ length: count }, (_, i) => ({
    form: i % 2,
    userid: `user ${i % 4}`,
    question_ref: `q${i % questions}`,
    question_idx: i % questions,
    question_text: `Question ${i % questions}?`,
    response: `Answer ${i}`,
    translated_response: i % 3 === 0 ? `Translation ${i}` : null,
    timestamp: new Date(Date.UTC(2026, 0, 5, 3, i)).toISOString(),
  }));

/** The place of a bar among four. */
async function barAt(chart: Locator, bar: number): Promise<[x: number, y: number]> {
  const box = await chart.locator('svg').boundingBox();
  if (!box) throw new Error('The chart has no size.');
  return [box.x + ((bar + 0.5) * box.width) / 4, box.y + box.height / 3];
}

/** The days in the fields of the filter, and how many bars the chart shows as not selected. */
const selectedDays = async (page: Page) => [
  await page.locator('[name=since]').inputValue(),
  await page.locator('[name=until]').inputValue(),
  await page.locator('.bar.out').count(),
];

test('shows the participants or answers per day as a chart and as a table; a drag over bars selects their days', async () => {
  const survey = await create();
  // At the end of four days in St John's: three participants, one with two answers, none, two.
  await addResponses(survey, [
    ...['a', 'b', 'c'].map((userid) => ({ userid, timestamp: '2026-03-01T02:00:00Z' })),
    ...['q', 'r'].map((question_ref) => ({
      userid: 'a',
      question_ref,
      timestamp: '2026-03-02T02:00:00Z',
    })),
    ...['a', 'd'].map((userid) => ({ userid, timestamp: '2026-03-04T02:00:00Z' })),
  ]);
  const page = await openSurvey(survey, {}, { timezoneId: 'America/St_Johns', hasTouch: true });
  await selected(page, '4 participants, 7 answers');
  const overview = page.getByRole('region', { name: 'Overview' });
  await overview
    .getByText(
      'First answer 28 Feb 2026, 22:30, last answer 3 Mar 2026, 22:30. Times are in the time zone America/St Johns.',
    )
    .waitFor();

  const chart = page.locator('.plot');
  for (const [name, noun, heights] of [
    ['Participants', 'participants', [3, 1, 0, 2]],
    ['Answers', 'answers', [3, 2, 0, 2]],
  ] as const) {
    await overview.getByRole('button', { name, exact: true }).click();
    await overview.getByText(`${name} per day`, { exact: true }).waitFor();
    expect(await chart.getAttribute('aria-label')).toBe(
      `${name} per day, from 28 Feb 2026 to 3 Mar 2026. Most: 28 Feb 2026, with 3 ${noun}.`,
    );
    expect(await chart.locator('.scale').textContent()).toBe(`3 ${name.toLowerCase()}`);
    const shown = await chart
      .locator('.bar')
      .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('height')));
    expect(shown.map(Number)).toEqual(heights.map((height) => (100 * height) / 3));
  }

  await overview.getByText('Numbers per day, as a table').click();
  const rows = overview.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(3);
  expect(await rows.allInnerTexts()).toEqual([
    '28 Feb 2026\t3\t3',
    '1 Mar 2026\t1\t2',
    '3 Mar 2026\t2\t2',
  ]);

  // A bar that is pointed at, or tapped, shows its numbers.
  const readout = page.locator('.readout');
  await page.touchscreen.tap(...(await barAt(chart, 1)));
  await expect.poll(() => readout.textContent()).toBe('1 Mar 2026: 1 participant, 2 answers');
  const move = async (bar: number) => page.mouse.move(...(await barAt(chart, bar)));
  await move(2);
  await expect.poll(() => readout.textContent()).toBe('2 Mar 2026: 0 participants, 0 answers');
  expect(await selectedDays(page)).toEqual(['', '', 0]);
  await move(3); // the last bar: its numbers and the number at the upper line are both on the right
  const [above, below] = await Promise.all([
    readout.boundingBox(),
    chart.locator('.scale').boundingBox(),
  ]);
  expect(above && above.y + above.height).toBeLessThanOrEqual(below?.y ?? 0);
  await move(2);

  await page.mouse.down();
  await move(1);
  await expect.poll(() => readout.textContent()).toMatch(/^1\s–\s2 Mar 2026: 2 answers$/);
  expect(await selectedDays(page)).toEqual(['', '', 2]);
  await page.keyboard.press('Escape'); // ends a selection that has not been finished
  await move(3);
  await page.mouse.up();
  expect(await selectedDays(page)).toEqual(['', '', 0]);

  await move(2);
  await page.mouse.down();
  await move(1);
  await page.mouse.up();
  await selected(page, '1 participant, 2 answers');
  expect(await selectedDays(page)).toEqual(['2026-03-01', '2026-03-02', 2]);
  await page.getByText(/^Filter 1\s–\s2 Mar 2026$/).click();
  await page.getByLabel('From', { exact: true }).fill('2026-03-02'); // the chart follows the filter
  await selected(page, 'No answers match.');
  expect(await selectedDays(page)).toEqual(['2026-03-02', '2026-03-02', 3]);
  await page.getByRole('link', { name: 'Clear' }).click();
  await selected(page, '4 participants, 7 answers');
  expect(await selectedDays(page)).toEqual(['', '', 0]);
});

test('the chart of weeks counts a participant once for each day, in UTC if the service does not know the time zone', async () => {
  const survey = await create();
  // the last on a Sunday
  const timestamps = ['2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z', '2026-05-03T23:30:00Z'];
  await addResponses(
    survey,
    timestamps.map((timestamp) => ({ userid: 'a', timestamp })),
  );
  const page = await openSurvey(survey, {}, { timezoneId: 'GMT+3', provoked: /status of 400/ });
  await page.getByText('Participants per week (in the time zone UTC)').waitFor();
  await page
    .getByText(/last answer 4 May 2026, 02:30\. Times are in the time zone \+03:00\.$/)
    .waitFor();
  const chart = page.locator('.plot');
  expect(await chart.locator('.range span').allTextContents()).toEqual(
    ['29 Dec 2025', '2 Mar 2026', '27 Apr 2026'].map((day) => `week of ${day}`),
  );
  const { x = 0, y = 0 } = (await chart.boundingBox()) ?? {};
  await page.mouse.move(x + 5, y + 50);
  await page.getByText('week of 29 Dec 2025: 2 participants, 2 answers', { exact: true }).waitFor();
  const note = page.getByText('Someone who answered on several days is counted once for each day.');
  expect(await note.isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Answers', exact: true }).click();
  expect(await note.isVisible()).toBe(false);
});

test('lists the questions by form with the share of its participants, 50 at a time, finds one, and downloads them', async () => {
  const survey = await createSurvey(await createAccount(), 'Sleep', 3); // the last is another form
  const asked = Array.from({ length: 60 }, (_, i) => ({ i, participants: 1 + (i % 4) }));
  const responses = asked.flatMap(({ i, participants }): TestResponse[] =>
    Array.from({ length: participants }, (_, user) => ({
      userid: `user ${user}`,
      question_ref: `q${i}`,
      question_idx: i,
      question_text: `Question ${i}?`,
    })),
  );
  const again = { ...responses[0], form: 1, timestamp: '2026-03-02T00:00:00Z' };
  await addResponses(survey, [
    ...responses,
    again,
    { form: 2, question_ref: 'last', question_text: 'Last?' },
  ]);
  const lines = asked.map(({ i, participants }) => {
    const people = participants === 1 ? '1 participant' : `${participants} participants`;
    const others = participants < 4 ? `, ${4 - participants} did not answer` : '';
    return [
      `Question ${i}?`,
      `q${i}`,
      `${25 * participants}% answered`,
      `${people}${i === 0 ? ', 2 answers' : ''}${others}`,
    ];
  });
  const page = await openSurvey(survey, { view: 'questions' });
  const questions = page.getByRole('region', { name: 'Questions' });
  const shown = async () => {
    const texts = await questions.locator('tbody tr:has(progress)').allInnerTexts();
    return texts.map((text) => text.split(/[\n\t]+/));
  };
  await questions.getByText('61 questions', { exact: true }).waitFor();
  expect(await shown()).toEqual(lines.slice(0, 50));
  const bars = await questions
    .locator('progress')
    .evaluateAll((found) => found.map((bar) => bar.getAttribute('value')));
  expect(bars.slice(0, 4)).toEqual(['0.25', '0.5', '0.75', '1']);
  await questions.getByRole('button', { name: 'Show more' }).click();
  expect((await shown()).slice(0, 60)).toEqual(lines);
  expect((await shown()).at(-1)).toEqual(['Last?', 'last', '100% answered', '1 participant']);
  expect(await questions.getByRole('rowheader').allInnerTexts()).toEqual([
    'Title 1 (f0)',
    'Title 2 (f1)',
  ]);
  await questions.getByLabel('Search questions').fill('QUESTION 59');
  expect(await shown()).toEqual(lines.slice(59));
  await questions.getByText('1 of 61 questions').waitFor();

  const { bytes } = await saved(page, () => press(page, 'Download codebook'));
  expect(bytes).toEqual(await fileOf(survey, { format: 'csv' }, 'questions'));
});

test('a question that several forms ask is listed once on request, with its share in each', async () => {
  const survey = await createSurvey(await createAccount(), 'Sleep', 3); // the last is another form
  const asked = { question_ref: 'q', question_text: 'Shared?' };
  await addResponses(survey, [
    { ...asked, userid: 'a', response: 'yes' },
    { ...asked, userid: 'b', response: 'yes' },
    { ...asked, userid: 'c', form: 2, response: 'yes' },
    { userid: 'd', form: 2, question_ref: 'other' },
  ]);
  const page = await openSurvey(survey, { view: 'questions' });
  const questions = page.getByRole('region', { name: 'Questions' });
  const shared = questions.locator('tbody', { hasText: 'Shared?' });
  expect(await shared.count()).toBe(2);
  await questions
    .getByLabel('If several forms ask the same question')
    .selectOption('put the answers of all forms together');
  await expect.poll(() => shared.count()).toBe(1);
  const lines = (await shared.locator('tr').first().innerText()).split(/[\n\t]+/);
  const ofForms = [
    'Title 1 (f0)',
    '100% answered',
    '2 participants',
    'Title 2 (f1)',
    '50% answered',
  ];
  expect(lines).toEqual(['Shared?', 'q', ...ofForms, '1 participant, 1 did not answer']);
  await shared.getByText('What was answered').click();
  await expect
    .poll(() => shared.locator('.answered td').allTextContents())
    .toEqual(['yes', '', '3 (100%)']);
});

test('a question opens to what was answered: choices, numbers, and texts, of which those given once only on request', async () => {
  const survey = await create();
  const give = (question_ref: string, question_text: string, given: readonly string[]) =>
    given.map((response, i): TestResponse => ({
      userid: `user ${i}`,
      question_ref,
      question_text,
      response,
    }));
  const ages = Array.from({ length: 25 }, (_, i) => String(20 + 2 * i));
  await addResponses(survey, [
    ...give('choice', 'Well?\nA) Yes\nB) No\nC) Maybe', ['B', 'B', 'B', 'A', 'other']),
    ...give('children', 'How many?', ['2', '10', '2', '0.5']),
    ...give('age', 'How old?', ages),
    ...give('text', 'Why?', ['money', 'money', 'love', '<b>']),
  ]);
  const page = await openSurvey(survey, { view: 'questions' });
  const questions = page.getByRole('region', { name: 'Questions' });
  const open = async (ref: string) => {
    const body = questions.locator('tbody', { hasText: ref }).first();
    await body.getByText('What was answered').click();
    await body.locator('.answered tr').first().waitFor();
    return body;
  };
  const rowsOf = async (body: Locator) =>
    (await body.locator('.answered tr').allInnerTexts()).map((row) => row.split(/\s*\t\s*/));
  expect(await rowsOf(await open('Well?'))).toEqual([
    ['Yes', '1 (20%)'],
    ['No', '3 (60%)'],
    ['other', '1 (20%)'],
  ]);
  const children = await open('How many?');
  await children.getByText('Smallest 0.5, median 2, largest 10', { exact: true }).waitFor();
  expect(await rowsOf(children)).toEqual([
    ['0.5', '1 (25%)'],
    ['2', '2 (50%)'],
    ['10', '1 (25%)'],
  ]);
  const age = await open('How old?');
  await age.getByText('Smallest 20, median 44, largest 68', { exact: true }).waitFor();
  const bins = (await rowsOf(age)).map(([range, count]) => [range, count?.split(' ')[0]]);
  expect(bins.slice(0, 2)).toEqual([
    ['20 to under 24', '2'],
    ['24 to under 28', '2'],
  ]);
  expect(bins.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(25);
  const text = await open('Why?');
  expect(await rowsOf(text)).toEqual([['money', '2 (50%)']]);
  await text
    .getByText('2 other different answers, which may identify people', { exact: true })
    .waitFor();
  await text.getByRole('button', { name: 'Show them' }).click();
  expect((await rowsOf(text)).map(([value]) => value)).toEqual(['money', '<b>', 'love']);
});

test('shows the newest answers by participant, older ones on request, and new ones after a check', async () => {
  const survey = await create();
  const newestFirst = minutely(60, 7).toReversed();
  await addResponses(survey, newestFirst);
  const textOf = ({ question_text, translated_response, response }: TestResponse) =>
    `${question_text}|${translated_response ? `${translated_response}|Translated from:|` : ''}${response}`;
  /**
   * The answers in pages of 25, the newest first, with their participants in the order of their
   * newest answers.
   */
  const pages = [newestFirst.slice(0, 25), newestFirst.slice(25, 50), newestFirst.slice(50)].map(
    (rows) =>
      [...Map.groupBy(rows, ({ userid }) => userid)].map(([userid, of]) =>
        [`Participant ${userid}`, 'Form: Title 1'].concat(of.map(textOf)),
      ),
  );
  const page = await openSurvey(survey, { view: 'answers' });
  const newest = page.getByRole('region', { name: 'Answers' });
  const shown = async () => {
    const people = await newest.locator('.people > li').all();
    return Promise.all(
      people.map(async (person) => {
        const texts = await person.locator('.from > span, .answers > li > div').allInnerTexts();
        return texts.map((text) => text.replaceAll(/\n+/g, '|'));
      }),
    );
  };
  const more = newest.getByRole('button', { name: 'Show more' });
  for (const count of [1, 2, 3]) {
    await expect.poll(() => newest.locator('.people').count()).toBe(count);
    expect(await shown()).toEqual(pages.slice(0, count).flat());
    if (count < 3) await more.click();
  }
  expect(await more.count()).toBe(0);

  const late = {
    timestamp: '2026-11-01T12:00:00Z',
    userid: 'late',
    question_text: 'Late?',
    response: 'New',
  };
  await addResponses(survey, [late]);
  await newest.getByRole('button', { name: 'Check for new answers' }).click();
  await newest.getByText('late', { exact: true }).waitFor();
  expect(await newest.locator('.people > li').first().innerText()).toMatch(/New\s*1 Nov 2026/su);
  expect(await newest.getByText(/^Answer /).count()).toBe(24); // one page again
});

test('shows hostile texts as text, cut, and more of them on request', async () => {
  const name = '‮<script>throw 1</script> استبيان';
  const survey = await createSurvey(await createAccount(), name);
  const long = `<img src=x onerror=alert(1)>${'\u0301'.repeat(100)}${'नींद 👍🏽 '.repeat(2000)}`;
  const labels = ['<img src=x onerror=alert(1)>', 'نعم <b>', `نعم ${'long'.repeat(200)}`];
  const choices = labels.map((label, i) => `\n${'abc'[i]}) ${label}`).join('');
  await addResponses(survey, [
    {
      response: long,
      question_ref: '<b>',
      question_text: `<script>throw 2</script>${'?'.repeat(400)}`,
    },
    {
      response: '\u202etxet desrever',
      userid: 'مشارك <i>\u202e',
      question_ref: 'b',
      question_text: 'سؤال',
    },
    { response: 'line\n'.repeat(1000), question_ref: 'c', question_text: 'C' },
    { response: '', question_ref: 'd', question_text: 'D' },
    { response: 'a', timestamp: '2026-02-01T00:00:00Z', question_text: `Which?${choices}` },
  ]);
  const page = await openSurvey(survey, { view: 'answers' }, { width: 320 });
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
  const newest = page.getByRole('region', { name: 'Answers' });
  await newest.getByText('(empty)').waitFor();
  const texts = await newest.locator('.text').allTextContents();
  expect(texts).toContain(`${long.slice(0, 300)}…`);
  expect(texts).toContain('\u202etxet desrever');
  expect(texts).toContain(`${'line\n'.repeat(5)}line…`);
  const rightToLeft = newest.locator('bdi:dir(rtl)'); // each has the direction of its own text
  expect(await rightToLeft.allTextContents()).toEqual(['مشارك <i>\u202e', 'سؤال']);

  await newest
    .getByRole('button', { name: /^Show the first 10,000 of \d\d,\d{3} characters/ })
    .click();
  expect(
    (await newest.locator('.text').allTextContents()).map((text) => text.slice(0, 9999)),
  ).toContain(long.slice(0, 9999));
  await newest.getByRole('button', { name: 'Show all 424 characters' }).click();
  await newest.getByText('?'.repeat(400)).waitFor();
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  const less = newest.getByRole('button', { name: 'Show less' }).first();
  await less.press('Enter');
  await less.press('Enter');
  expect(await newest.locator('.text').allTextContents()).toEqual(texts);

  await openView(page, 'Questions');
  const questions = page.getByRole('region', { name: 'Questions' });
  const chosen = questions.locator('tbody', { hasText: 'Which?' });
  await chosen.getByText('What was answered').press('Enter');
  await expect.poll(() => chosen.locator('.answered bdi').allInnerTexts()).toEqual([labels[0]]);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
});

test('shows what to do after a part of a survey fails to load, and tries again on request', async () => {
  const survey = await create();
  await addResponses(survey, [{}]);
  const page = await openPage(pathOf(survey), { provoked: /ERR_FAILED/ });
  const retry = async (part: Locator, result: string) => {
    const sentence = part.getByText(
      'The service cannot be reached. Check your connection, then try again.',
    );
    await sentence.waitFor();
    const color = await page.evaluate(
      "getComputedStyle(document.querySelector('.state:not(:empty)')).color",
    );
    expect(color).toBe('rgb(179, 38, 30)');
    await part.getByRole('button', { name: 'Try again' }).click();
    await part.getByText(result, { exact: true }).first().waitFor();
    expect(await part.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  };
  const region = (name: string) => page.getByRole('region', { name });
  await abortFirst(page, '/responses/summary');
  await enterKey(page, survey.account.key);
  await retry(region('Selection'), '1 participant, 1 answer');
  await retry(region('Overview'), 'Participants per day');
  await abortFirst(page, '/responses/questions');
  await openView(page, 'Questions');
  await retry(region('Questions'), 'Question?');
  await abortFirst(page, '/responses?');
  await openView(page, 'Answers');
  await retry(region('Answers'), 'Answer');
});

test('a survey without answers is one sentence, no error; a minute later, those that have arrived are counted', async () => {
  const survey = await create();
  const other = await createSurvey(survey.account, 'Food');
  const page = await openPage(pathOf(survey));
  await page.clock.install();
  const sentence = page.getByText('This survey has no answers yet.', { exact: true });
  await enterKey(page, survey.account.key);
  await sentence.waitFor();
  await selected(page, 'No answers yet.');

  await page.getByRole('link', { name: 'All surveys' }).click();
  await expect.poll(() => page.getByText('0 answers').count()).toBe(2);
  await page.getByRole('link', { name: survey.name }).click();
  await sentence.waitFor();
  await addResponses(survey, [{ response: 'The first' }]);
  await page.clock.runFor(60_000);
  await openView(page, 'Overview');
  await selected(page, '1 participant, 1 answer');
  await page.locator('.plot').waitFor();

  await page.getByRole('link', { name: 'All surveys' }).click();
  await addResponses(other, [{ response: 'Another' }]);
  await page.clock.runFor(3_600_000);
  await page.getByRole('link', { name: other.name }).click();
  await selected(page, '1 participant, 1 answer');
});

test('a survey is counted once: what the list has counted, or still counts, is shown at once, and again after a minute', async () => {
  const survey = await create();
  await addResponses(survey, [{ userid: 'a' }, { userid: 'b', form: 1 }]);
  const page = await openPage('/');
  let requests = 0;
  page.on(
    'request',
    (request) => (requests += new URL(request.url()).pathname.endsWith('/summary') ? 1 : 0),
  );
  await page.clock.install();
  const openIt = () => page.getByRole('link', { name: survey.name }).click();
  const expectCounted = async () => {
    await selected(page, '2 participants, 2 answers');
    await page.locator('.plot').waitFor();
    await openView(page, 'Questions');
    await page.getByText('50%').first().waitFor();
    await openView(page, 'Download');
    await page.getByRole('button', { name: 'Preview' }).waitFor();
  };
  const first = await hold(page, '/responses/summary');
  await enterKey(page, survey.account.key);
  await expect.poll(() => first.held).toBe(1);
  await openIt();
  await page.locator('.match').getByText('Counting…').waitFor();
  first.release();
  await expectCounted();
  const toList = async () => {
    await page.getByRole('link', { name: 'All surveys' }).click();
    await page.getByText('2 answers').waitFor();
  };
  await toList();
  await openIt();
  await expectCounted();
  expect(requests).toBe(1);

  // After a minute they are counted again; the old numbers are shown meanwhile.
  await toList();
  const second = await hold(page, '/responses/summary');
  await page.clock.runFor(61_000);
  await openIt();
  await expect.poll(() => second.held).toBe(1);
  await selected(page, '2 participants, 2 answers');
  second.release();
  await expectCounted();
  expect(requests).toBe(2);
});
