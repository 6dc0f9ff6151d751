import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { query } from '../support/api.ts';
import { type TestResponse, storeSurvey } from '../support/data.ts';
import { enterKey, hold, openNew, openSurvey, selected, settled } from './home.ts';
import { openPage } from './browser.ts';

/** One answer each of so many participants. */
const give = (
  question_ref: string,
  responses: readonly string[],
  others: TestResponse = {},
): TestResponse[] =>
  responses.map((response, i) => ({ userid: `user ${i}`, question_ref, response, ...others }));

const card = (page: Page, text: string) => page.locator('.card', { hasText: text });

const cells = (rows: readonly string[]) => rows.map((row) => row.split(/\s*\n\s*/));

/** The bars of pictures, each with its label, its number of records and its share. */
const bars = async (node: Locator) => cells(await node.locator('li.row').allInnerTexts());

const rowsOf = async (table: Locator) =>
  (await table.locator('tbody tr:visible').allInnerTexts()).map((row) => row.split(/\s*[\t\n]\s*/));

/** What a button copies. */
async function copied(page: Page, button: Locator): Promise<string> {
  await page.evaluate(
    `navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`,
  );
  await button.click();
  await button.getByText('Copied').waitFor();
  return page.evaluate<string>('globalThis.copied');
}

describe('the numbers', () => {
  const DAY = 86_400_000;
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString();

  test('are those of the selection, of today, and of the last seven whole days beside the seven before', async () => {
    const answered = [
      ['a', 20],
      ['a', 0],
      ['a', 1],
      ['b', 1],
      ['b', 7],
      ['c', 8],
      ['c', 14],
      ['d', 15],
    ] as const;
    const survey = await storeSurvey(
      answered.map(([userid, days], i) => ({
        userid,
        timestamp: daysAgo(days),
        question_ref: `q${i % 2}`,
      })),
    );
    const page = await openSurvey(survey, {}, { timezoneId: 'UTC' });
    const numbers = () => rowsOf(page.locator('.glance'));
    expect(await numbers()).toEqual([
      ['Selected', '4', '8'],
      ['Today', '1', '1'],
      ['Last 7 whole days', '2', '3'],
      ['The 7 days before', '1', '2'],
    ]);

    // They follow the filter, except that by day.
    const day = daysAgo(1).slice(0, 10);
    await page.goto(`${page.url()}&question_ref=q1&since=${day}&until=${day}&timezone=UTC`);
    await enterKey(page, survey.account.key);
    await settled(page);
    expect(await numbers()).toEqual([
      ['Selected', '1', '1'],
      ['Today', '1', '1'],
      ['Last 7 whole days', '1', '1'],
      ['The 7 days before', '1', '1'],
    ]);
  });
});

test('draws the participants of each day, with their numbers for screen readers and the clipboard; a click on a bar selects its days', async () => {
  // At the end of four days in St John's: three participants, one with two answers, none, two.
  const page = await openNew(
    [
      ...['a', 'b', 'c'].map((userid) => ({ userid, timestamp: '2026-03-01T02:00:00Z' })),
      ...['q', 'r'].map((question_ref) => ({
        userid: 'a',
        question_ref,
        timestamp: '2026-03-02T02:00:00Z',
      })),
      ...['a', 'd'].map((userid) => ({ userid, timestamp: '2026-03-04T02:00:00Z' })),
    ],
    {},
    { timezoneId: 'America/St_Johns' },
  );
  await page
    .getByText(
      'First answer 28 Feb 2026, 22:30, last answer 3 Mar 2026, 22:30. Times are in the time zone America/St Johns.',
    )
    .waitFor();
  const chart = page.getByRole('figure');
  await chart.getByText('Participants per day, up to 3').waitFor();
  const rows = [
    ['28 Feb 2026', '3 participants', '3 answers'],
    ['1 Mar 2026', '1 participant', '2 answers'],
    ['2 Mar 2026', '0 participants', '0 answers'],
    ['3 Mar 2026', '2 participants', '2 answers'],
  ];
  expect(await bars(chart)).toEqual(rows);
  const heights = await chart
    .locator('li')
    .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('style')));
  expect(heights.map((style) => parseFloat(style?.split(' ')[1] ?? ''))).toEqual(
    [3, 1, 0, 2].map((height) => expect.closeTo((100 * height) / 3, 3) as number),
  );
  const text = rows.map((row) => row.join('\t')).join('\n');
  expect(await copied(page, chart.getByRole('button'))).toBe(text);

  await chart.locator('li').nth(1).click();
  await selected(page, '1 participant, 2 answers');
  expect(await chart.locator('.out').count()).toBe(3);
  expect(new URL(page.url()).searchParams.get('until')).toBe('2026-03-01');
});

test('the days of many weeks are counted by week, in UTC if the service does not know the time zone', async () => {
  // the last on a Sunday
  const timestamps = ['2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z', '2026-05-03T23:30:00Z'];
  const page = await openNew(
    timestamps.map((timestamp) => ({ userid: 'a', timestamp })),
    {},
    { timezoneId: 'GMT+3', provoked: /status of 400/ },
  );
  const chart = page.getByRole('figure');
  await chart.getByText('Participants per week, up to 2 (in the time zone UTC)').waitFor();
  await chart
    .getByText('Someone who answered on several days is counted once for each day.')
    .waitFor();
  const weeks = await bars(chart);
  expect([weeks.length, weeks[0]]).toEqual([
    18,
    ['week of 29 Dec 2025', '2 participants', '2 answers'],
  ]);
});

describe('a form', () => {
  /** Three participants begin; one ends after the first question, one after the form. */
  function addForms() {
    const answered: readonly (readonly [userid: string, form: number, question: number])[] = [
      ...[0, 1, 2].map((question) => ['a', 0, question] as const),
      ['a', 2, 3],
      ...[0, 1, 2].map((question) => ['b', 0, question] as const),
      ['c', 0, 0],
    ];
    return storeSurvey(
      answered.map(([userid, form, question], i) => ({
        userid,
        form,
        question_ref: `q${question}`,
        question_idx: question,
        question_text: `Question ${question}?`,
        parent: null,
        timestamp: new Date(Date.UTC(2026, 2, 1, 0, i)).toISOString(),
      })),
    );
  }

  const funnels = async (page: Page) => {
    const sections = await page.locator('.form:visible').all();
    return Promise.all(
      sections.map(async (section) => {
        const rows = await rowsOf(section.locator('.funnel'));
        const name = await section.getByRole('heading', { level: 2 }).innerText();
        return [name].concat(rows.map((row) => row.join(' ')));
      }),
    );
  };

  test('shows how many answered each question, and have their last answer there, whatever questions are selected', async () => {
    const survey = await addForms();
    const page = await openSurvey(survey);
    expect(await funnels(page)).toEqual([
      ['Title 1 (f0)', 'Question 0? 3 100% 1', 'Question 1? 2 67% 0', 'Question 2? 2 67% 1'],
      ['Title 2 (f1)', 'Question 3? 1 100% 1'],
    ]);
    await card(page, 'Question 1?').getByText('q1 · 2 of 3 participants answered').waitFor();

    const filtered = await openSurvey(survey, { question_ref: ['q1', 'q2'] });
    await selected(filtered, '2 participants, 4 answers');
    expect(await funnels(filtered)).toEqual([
      ['Title 1 (f0)', 'Question 1? 2 67% 0', 'Question 2? 2 67% 1'],
    ]);
    await card(filtered, 'Question 1?').getByText('q1 · 2 of 3 participants answered').waitFor();
  });

  test('names its questions in links, by form and question', async () => {
    const survey = await addForms();
    const page = await openSurvey(survey);
    const question = card(page, 'Question 2?');
    const link = await copied(page, question.getByRole('button', { name: 'Copy link' }));
    expect(new URL(link).hash).toBe('#question/f0/q2');
    await page.getByRole('link', { name: 'Question 2?' }).click();
    expect(page.url()).toBe(link);
    expect(await page.evaluate('document.activeElement.id')).toBe('question/f0/q2');

    await page.goto('about:blank');
    await page.goto(link.replace('q2', 'gone'));
    await enterKey(page, survey.account.key);
    await page.getByText('The link names a question that has no selected answers.').waitFor();
  });

  test('makes a file of the questions that are chosen, without a change of the filter before', async () => {
    const survey = await addForms();
    const page = await openSurvey(survey, { by: 'form' });
    for (const name of ['Question 0?', 'Question 3?'])
      await page.getByRole('checkbox', { name }).check();
    await selected(page, '3 participants, 8 answers');
    await page.getByRole('link', { name: 'Download 2 questions' }).click();
    await page.getByRole('button', { name: 'Download file' }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.getAll('question_ref')).toEqual(['q0', 'q3']);
    expect(searchParams.get('by')).toBe('form');
  });

  test('stays below the bar with the question that a link names, while those above it are drawn', async () => {
    const values = Array.from({ length: 20 }, (_, i) => `Answer ${i % 10}`);
    const responses = Array.from({ length: 20 }, (_, i) =>
      give(`q${i}`, values, { question_text: `Question ${i}?`, question_idx: i }),
    );
    const survey = await storeSurvey(responses.flat());
    const page = await openPage(`/${query({ survey: survey.name })}#question/f0/q14`);
    await enterKey(page, survey.account.key);
    await settled(page);
    const top = async () => (await card(page, 'Question 14?').boundingBox())?.y;
    expect(await top()).toBeCloseTo(96, -1);
  });

  test('is named above the questions that a search finds', async () => {
    const asked = Array.from({ length: 12 }, (_, i) => ({
      form: i < 6 ? 0 : 2,
      question_ref: `q${i}`,
      question_text: `Frage ${i} Wörter`,
    }));
    const page = await openNew(asked);
    await page.getByLabel('Search questions').fill('WORTER 7');
    await page.getByText('1 of 12 questions', { exact: true }).waitFor();
    expect(await page.locator('.form:visible h2, .card:visible h3').allTextContents()).toEqual([
      'Title 2 (f1)',
      'Frage 7 Wörter',
    ]);
    await page.getByLabel('Search questions').fill('f0');
    await page.getByText('6 of 12 questions', { exact: true }).waitFor();
  });
});

describe('a question', () => {
  const choices = 'Well?\nA) Yes\nB) No\nC) Maybe';

  test('with choices is drawn as bars, in their order, also those that nobody chose, without the list in its text', async () => {
    const page = await openNew([
      ...give('choice', ['B', 'B', 'B', 'a', 'x', 'x'], { question_text: choices }),
      { userid: 'nobody', question_ref: 'other', question_text: 'Other?' },
    ]);
    const question = card(page, 'Well?');
    expect(await question.getByRole('heading').innerText()).toBe('Well?');
    await question.getByText('of 6 participants', { exact: true }).waitFor();
    expect(await bars(question)).toEqual([
      ['Yes', '1', '17%'],
      ['No', '3', '50%'],
      ['Maybe', '0', '0%'],
      ['x', '2', '33%'],
    ]);
  });

  test('shows and copies texts that one record has only on request, and none as a formula', async () => {
    const texts = ['money', 'money', '=1+1', '<b>', 'a\t"b"'];
    const page = await openNew(give('text', texts, { question_text: 'Why?' }));
    const question = card(page, 'Why?');
    const copy = question.getByRole('button', { name: 'Copy table' });
    await question.getByText('Not shown: 3 other texts, in 3 records.').waitFor();
    expect(await bars(question)).toEqual([['money', '2', '40%']]);
    expect(await copied(page, copy)).toBe('Why?\n\tof 5 participants\nmoney\t2\t40%');

    await question.getByRole('button', { name: 'Show them' }).click();
    await expect.poll(() => bars(question)).toHaveLength(4);
    expect((await copied(page, copy)).split('\n').slice(2)).toEqual([
      'money\t2\t40%',
      '<b>\t1\t20%',
      "'=1+1\t1\t20%",
      '"a\t""b"""\t1\t20%',
    ]);
  });

  test('with numbers is drawn as a histogram of exact decimals, with what is no number beside it', async () => {
    const tenths = Array.from({ length: 30 }, (_, i) => (36 + i / 10).toFixed(1));
    const page = await openNew([
      ...give('temperature', [...tenths, 'hot'], { question_text: 'How warm?' }),
      ...give('children', ['2', '10', '2', '0'], { question_text: 'How many?' }),
      ...give('tiny', ['0.001', '0.002', '-0.004'], { question_text: 'How small?' }),
    ]);
    const warm = card(page, 'How warm?');
    expect(await bars(warm)).toEqual(
      Array.from({ length: 15 }, (_, i) => {
        const [from, to] = [(36 + i / 5).toFixed(1), (36 + (i + 1) / 5).toFixed(1)];
        const end = i < 14 ? `under ${to.replace('.0', '')}` : '38.9';
        return [`${from.replace('.0', '')} to ${end}`, '2', '6%'];
      }),
    );
    const figures = (question: Locator) => question.locator('dd').allTextContents();
    expect(await figures(warm)).toEqual(['37.45', '37.45', '36.725, 38.175', '36 to 38.9']);
    await warm.getByText('Not numbers: 1 of 31 answers.').waitFor();
    await warm.getByRole('button', { name: 'Show them' }).click();
    await expect.poll(async () => (await bars(warm)).at(-1)).toEqual(['hot', '1', '3%']);

    const many = await bars(card(page, 'How many?'));
    expect(many.map(([number, count]) => `${number}: ${count}`).slice(0, 3)).toEqual([
      '0: 1',
      '1: 0',
      '2: 2',
    ]);
    expect(await figures(card(page, 'How many?'))).toEqual(['2', '3.5', '1.5, 4', '0 to 10']);
    expect((await figures(card(page, 'How small?')))[1]).toBe('-0.000333');
  });

  test('counts records where a participant has several', async () => {
    const page = await openNew([
      { userid: 'a', question_ref: 'q', parent: null },
      {
        userid: 'a',
        question_ref: 'q',
        parent: null,
        parent_shortcode: 'another',
        timestamp: '2026-03-02T00:00:00Z',
      },
    ]);
    const text = await card(page, 'Question?').innerText();
    expect(text).toContain('q · 1 of 1 participant answered');
    expect(text).toContain('of 2 records');
  });
});

describe('a split', () => {
  /** The parts of a question, each with its name, its denominator and its bars. */
  const parts = async (question: Locator) => {
    const nodes = await question.locator('.parts > div:has(> .row)').all();
    return Promise.all(
      nodes.map(async (node) =>
        cells(await node.locator('.row').allInnerTexts()).map((row) => row.join(' ').trim()),
      ),
    );
  };

  test('draws shares within groups side by side, those of one record on request, and is in the link', async () => {
    const platforms = ['x', 'x', 'x', 'y', 'y', 'z'];
    const survey = await storeSurvey([
      ...platforms.flatMap((platform, i): TestResponse[] => {
        const metadata = JSON.stringify({ platform, seed: 7 });
        const own = { userid: `user ${i}`, metadata };
        return [
          { ...own, question_ref: 'q', response: i < 4 ? 'yes' : 'no', question_text: 'Well?' },
          { ...own, question_ref: 'age', response: `${20 + i}`, question_text: 'Age?' },
        ];
      }),
      ...give('q', ['no'], { userid: 'without', metadata: '{}', question_text: 'Well?' }),
    ]);
    const page = await openSurvey(survey);
    const split = page.getByLabel('Split by');
    await split.selectOption('platform');
    const question = card(page, 'Well?');
    const shown = [
      ['x of 3 participants', 'yes 3 100%', 'no 0 0%'],
      ['y of 2 participants', 'yes 1 50%', 'no 1 50%'],
    ];
    await expect.poll(() => parts(question)).toEqual(shown);
    expect((await parts(card(page, 'Age?')))[1]?.slice(0, 5)).toEqual([
      'y of 2 participants',
      '20 0 0%',
      '21 0 0%',
      '22 0 0%',
      '23 1 50%',
    ]);
    const note = 'Shares are within each of 3 groups; 1 record is in no group';
    await page.getByText(`${note}; 1 group of one record is not shown.`).waitFor();
    expect(await copied(page, question.getByRole('button', { name: 'Copy table' }))).not.toContain(
      'z',
    );
    await page.getByRole('button', { name: 'Show all groups' }).click();
    await page.getByText(`${note}.`).waitFor();
    await expect
      .poll(() => parts(question))
      .toEqual([...shown, ['z of 1 participant', 'yes 0 0%', 'no 1 100%']]);

    await split.selectOption('Well?');
    await expect
      .poll(async () => (await parts(card(page, 'Age?'))).map(([head]) => head))
      .toEqual(['yes of 4 participants', 'no of 2 participants']);
    expect(new URL(page.url()).searchParams.get('by')).toBe('question/f0/q');

    await split.selectOption('treatment arm…');
    await page.getByLabel('Treatment arm').fill('seed_0');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the name of an arm').waitFor();
    await page.getByLabel('Treatment arm').fill('seed_2');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => parts(question))
      .toEqual([['2 of 6 participants', 'yes 4 67%', 'no 2 33%']]);

    const { search } = new URL(page.url());
    expect(new URLSearchParams(search).get('by')).toBe('arm/seed_2');
    await page.goto(new URL(search, page.url()).href);
    await enterKey(page, survey.account.key);
    await expect.poll(() => parts(question)).toHaveLength(1);
    expect(await page.getByLabel('Treatment arm').inputValue()).toBe('seed_2');
  });

  test('by form shows a question in each form that asks it', async () => {
    const page = await openNew(
      [
        ...give('q', ['yes', 'yes', 'no'], { question_text: 'Well?' }),
        ...give('q', ['no', 'no', 'yes', 'yes', 'no', 'no'], { question_text: 'Well?', form: 2 }),
        ...give('r', ['no', 'no'], { question_text: 'Other?' }),
      ],
      { by: 'form' },
    );
    for (const place of [0, 1])
      await expect
        .poll(() => parts(card(page, 'Well?').nth(place)))
        .toEqual([
          ['Title 1 (f0) of 3 participants', 'yes 2 67%'],
          ['Title 2 (f1) of 6 participants', 'yes 2 33%', 'no 4 67%'], // in the same order
        ]);
    // and on the same scale
    const lengths = card(page, 'Well?').first().locator('.share');
    const styles = await lengths.evaluateAll((nodes) =>
      nodes.map((node) => node.getAttribute('style')),
    );
    expect(styles).toEqual(['--share: 100%;', '--share: 50%;', '--share: 100%;']);
    expect(await parts(card(page, 'Other?'))).toEqual([['of 2 participants', 'no 2 100%']]);
  });
});

test('counts with two requests at a time, the numbers first, and draws a question when it is reached', async () => {
  const survey = await storeSurvey(
    Array.from({ length: 30 }, (_, i) => ({
      question_ref: `q${i}`,
      question_text: `Question ${i}?`,
    })),
  );
  const page = await openPage(`/?survey=${survey.name}`);
  const paths: string[] = [];
  let running = 0;
  let most = 0;
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.includes('/responses')) return;
    paths.push(pathname.split('/').at(-1) + (searchParams.has('stops') ? ' stops' : ''));
    most = Math.max(most, ++running);
  });
  page.on(
    'requestfinished',
    (request) => (running -= request.url().includes('/responses') ? 1 : 0),
  );
  const numbers = await hold(page, '/responses/summary');
  await enterKey(page, survey.account.key);
  await expect.poll(() => numbers.held).toBe(2);
  expect(paths).toEqual(['summary', 'summary']);
  expect(await page.locator('.shape').count()).toBe(3);
  numbers.release();
  await settled(page);
  expect(most).toBe(2);
  const names = 'summary summary summary summary answers questions responses responses'.split(' ');
  expect(paths).toEqual([...names, 'summary stops']);

  const last = card(page, 'Question 29?');
  expect(await last.locator('.shape').count()).toBe(1);
  await last.scrollIntoViewIfNeeded();
  await expect.poll(() => last.locator('.shape').count()).toBe(0);
  expect(paths).toHaveLength(9);
});

test('a survey with too many long answers for one response is counted in parts', async () => {
  const questions = Array.from({ length: 60 }, (_, i) => i);
  const responses = questions.flatMap((i) =>
    give(
      `q${i}`,
      Array.from({ length: 30 }, (_, user) => `${user % 29} ${'नींद'.repeat(250)}`),
      { question_text: `Question ${i}?`, question_idx: i },
    ),
  );
  const page = await openNew(responses, {}, { provoked: /status of 400/ });
  for (const i of [0, 59]) {
    const question = card(page, `Question ${i}?`);
    await question.scrollIntoViewIfNeeded();
    await expect.poll(async () => (await bars(question)).map((row) => row.at(-1))).toEqual(['7%']);
  }
});
