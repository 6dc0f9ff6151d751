import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { query } from '../support/api.ts';
import { type TestResponse, storeSurvey } from '../support/data.ts';
import { openPage } from './browser.ts';
import { enterKey, hold, openNew, openSurvey, selected, settled, visit } from './home.ts';

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

test('the numbers are those of the selection, of today, and of the last seven whole days beside the seven before', async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
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
    answered.flatMap(([userid, days]) =>
      ['q', 'other'].map((question_ref) => ({ userid, question_ref, timestamp: daysAgo(days) })),
    ),
  );
  const day = daysAgo(1).slice(0, 10);
  const selection = { question_ref: 'q', since: day, until: day, timezone: 'UTC' };
  const page = await openSurvey(survey, selection);
  expect(await rowsOf(page.locator('.glance'))).toEqual([
    ['Selected', '2', '2'],
    ['Today', '1', '1'],
    ['Last 7 whole days', '2', '3'],
    ['The 7 days before', '1', '2'],
  ]);
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
  expect((await bars(chart))[0]).toEqual(['week of 29 Dec 2025', '2 participants', '2 answers']);
});

describe('a form', () => {
  test('shows how many answered each question, and have their last answer there; links name its questions, and a file can have some', async () => {
    // Three participants begin; one ends after the first question, one after the form.
    const answered = [
      ...[0, 1, 2].map((question) => ['a', 0, question] as const),
      ['a', 2, 3] as const,
      ...[0, 1, 2].map((question) => ['b', 0, question] as const),
      ['c', 0, 0] as const,
    ];
    const survey = await storeSurvey(
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
    const link = query({ survey: survey.name, by: 'form' });
    const page = await openPage(`/${link}#question/f0/gone`);
    await enterKey(page, survey.account.key);
    await settled(page);
    await page.getByText('The link names a question that has no selected answers.').waitFor();

    const funnels = async () => {
      const sections = await page.locator('.form:visible').all();
      return Promise.all(
        sections.map(async (section) => {
          const rows = await rowsOf(section.locator('.funnel'));
          const name = await section.getByRole('heading', { level: 2 }).innerText();
          return [name].concat(rows.map((row) => row.join(' ')));
        }),
      );
    };
    const second = ['Question 1? 2 67% 0', 'Question 2? 2 67% 1'];
    expect(await funnels()).toEqual([
      ['Title 1 (f0)', 'Question 0? 3 100% 1', ...second],
      ['Title 2 (f1)', 'Question 3? 1 100% 1'],
    ]);

    const copy = card(page, 'Question 2?').getByRole('button', { name: 'Copy link' });
    const copiedLink = await copied(page, copy);
    expect(new URL(copiedLink).hash).toBe('#question/f0/q2');
    await page.getByRole('link', { name: 'Question 2?' }).click();
    expect(page.url()).toBe(copiedLink);
    expect(await page.evaluate('document.activeElement.id')).toBe('question/f0/q2');

    await visit(page, `/${link}&question_ref=q1&question_ref=q2`);
    await selected(page, '2 participants, 4 answers');
    await expect.poll(funnels).toEqual([['Title 1 (f0)', ...second]]);
    await card(page, 'Question 1?').getByText('q1 · 2 of 3 participants answered').waitFor();

    await visit(page, `/${link}`);
    for (const name of ['Question 0?', 'Question 3?'])
      await page.getByRole('checkbox', { name }).check();
    await selected(page, '3 participants, 8 answers'); // the filter does not change
    await page.getByRole('link', { name: 'Download 2 questions' }).click();
    await page.getByRole('button', { name: 'Download file' }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.getAll('question_ref')).toEqual(['q0', 'q3']);
    expect(searchParams.get('by')).toBe('form');
  });

  test('stays below the bar with the question of a link, and is named above those that a search finds', async () => {
    const values = Array.from({ length: 20 }, (_, i) => `Answer ${i % 10}`);
    const responses = Array.from({ length: 20 }, (_, i) =>
      give(`q${i}`, values, {
        form: i < 15 ? 0 : 2,
        question_text: `Frage ${i} Wörter`,
        question_idx: i,
      }),
    );
    const survey = await storeSurvey(responses.flat());
    const page = await openPage(`/${query({ survey: survey.name })}#question/f0/q14`);
    await enterKey(page, survey.account.key);
    await settled(page);
    expect((await card(page, 'Frage 14').boundingBox())?.y).toBeCloseTo(96, -1);

    await page.getByLabel('Search questions').fill('WORTER 17');
    await page.getByText('1 of 20 questions', { exact: true }).waitFor();
    expect(await page.locator('.form:visible h2, .card:visible h3').allTextContents()).toEqual([
      'Title 2 (f1)',
      'Frage 17 Wörter',
    ]);
    await page.getByLabel('Search questions').fill('f0');
    await page.getByText('15 of 20 questions', { exact: true }).waitFor();
  });
});

test('a question is drawn as bars or as a histogram, without what only one record has', async () => {
  const tenths = Array.from({ length: 30 }, (_, i) => (36 + i / 10).toFixed(1));
  const page = await openNew([
    ...give('choice', ['B', 'B', 'B', 'a', 'x', 'x'], {
      question_text: 'Well?\nA) Yes\nB) No\nC) Maybe',
    }),
    ...give('text', ['money', 'money', '=1+1', '<b>', 'a\t"b"'], { question_text: 'Why?' }),
    ...give('temperature', [...tenths, 'hot'], { question_text: 'How warm?' }),
    ...give('children', ['2', '10', '2', '0'], { question_text: 'How many?' }),
    ...give('tiny', ['0.001', '0.002', '-0.004'], { question_text: 'How small?' }),
    ...['one', 'another'].map((parent_shortcode, i) => ({
      userid: 'user 0',
      question_ref: 'twice',
      question_text: 'How often?',
      parent: null,
      parent_shortcode,
      timestamp: `2026-03-0${1 + i}T00:00:00Z`,
    })),
  ]);
  const drawn = async (text: string) => {
    const question = card(page, text);
    await question.scrollIntoViewIfNeeded();
    await expect.poll(() => question.locator('.shape').count()).toBe(0);
    return question;
  };

  // Choices are in their order, also those that nobody chose, and no longer in the text.
  const choice = await drawn('Well?');
  expect(await choice.getByRole('heading').innerText()).toBe('Well?');
  await choice.getByText('of 6 participants', { exact: true }).waitFor();
  expect(await bars(choice)).toEqual([
    ['Yes', '1', '17%'],
    ['No', '3', '50%'],
    ['Maybe', '0', '0%'],
    ['x', '2', '33%'],
  ]);

  // Texts that one record has are shown and copied only on request, and none as a formula.
  const why = await drawn('Why?');
  const copy = why.getByRole('button', { name: 'Copy table' });
  await why.getByText('Not shown: 3 other texts, in 3 records.').waitFor();
  expect(await copied(page, copy)).toBe('Why?\n\tof 5 participants\nmoney\t2\t40%');
  await why.getByRole('button', { name: 'Show them' }).click();
  await expect.poll(() => bars(why)).toHaveLength(4);
  expect((await copied(page, copy)).split('\n').slice(2)).toEqual([
    'money\t2\t40%',
    '<b>\t1\t20%',
    "'=1+1\t1\t20%",
    '"a\t""b"""\t1\t20%',
  ]);

  // Numbers are exact decimals, with what is no number beside them.
  const figures = (question: Locator) => question.locator('dd').allTextContents();
  const warm = await drawn('How warm?');
  expect(await bars(warm)).toEqual(
    Array.from({ length: 15 }, (_, i) => {
      const [from, to] = [(36 + i / 5).toFixed(1), (36 + (i + 1) / 5).toFixed(1)];
      const end = i < 14 ? `under ${to.replace('.0', '')}` : '38.9';
      return [`${from.replace('.0', '')} to ${end}`, '2', '6%'];
    }),
  );
  expect(await figures(warm)).toEqual(['37.45', '37.45', '36.725, 38.175', '36 to 38.9']);
  await warm.getByText('Not numbers: 1 of 31 answers.').waitFor();
  await warm.getByRole('button', { name: 'Show them' }).click();
  await expect.poll(async () => (await bars(warm)).at(-1)).toEqual(['hot', '1', '3%']);
  const many = await drawn('How many?');
  const counts = (await bars(many)).map(([number, count]) => `${number}: ${count}`);
  expect(counts.slice(0, 3)).toEqual(['0: 1', '1: 0', '2: 2']);
  expect(await figures(many)).toEqual(['2', '3.5', '1.5, 4', '0 to 10']);
  expect((await figures(await drawn('How small?')))[1]).toBe('-0.000333');

  // Records are counted where a participant has several.
  const text = await (await drawn('How often?')).innerText();
  expect(text).toContain('twice · 1 of 31 participants answered');
  expect(text).toContain('of 2 records');
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
