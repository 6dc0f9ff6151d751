import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  type TestResponse,
  addResponses,
  createAccount,
  createSurvey,
  storeSurvey,
} from '../support/data.ts';
import { openPage } from './browser.ts';
import { abortFirst, enterKey, hold, openSurvey, openView, selected } from './home.ts';

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

test('shows the newest answers by participant, older ones on request, new ones after a check, and letters as choices', async () => {
  const newestFirst = minutely(60, 7).toReversed();
  const survey = await storeSurvey(newestFirst);
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

  const choices = (first: string) => `Well?\nA. ${first}\nB. No`;
  const late = { userid: 'late', question_text: choices('Yes, now'), form: 1 };
  await addResponses(survey, [
    { response: 'a', question_text: choices('Yes, before'), timestamp: '2026-11-01T12:00:00Z' },
    { ...late, response: 'A', timestamp: '2026-11-01T12:01:00Z' },
    { ...late, response: 'C', timestamp: '2026-11-01T12:02:00Z' },
  ]);
  await newest.getByRole('button', { name: 'Check for new answers' }).click();
  const link = newest.getByRole('link', { name: 'late', exact: true });
  await link.waitFor();
  expect(await newest.locator('.people > li').first().innerText()).toMatch(/C\s*1 Nov 2026/su);
  await newest.getByText('Yes, before', { exact: true }).waitFor();
  expect(await newest.getByText(/^Answer /).count()).toBe(22); // one page again

  await link.click();
  await selected(page, '1 participant, 2 answers');
  await expect.poll(shown).toHaveLength(1);
  expect((await shown())[0]?.slice(2).map((text) => text.split('|').slice(3))).toEqual([
    ['C'],
    ['Yes, now', 'Choice A'],
  ]);
});

test('shows hostile texts as text, cut, and more of them on request', async () => {
  const name = '‮<script>throw 1</script> استبيان';
  const long = `<img src=x onerror=alert(1)>${'\u0301'.repeat(100)}${'नींद 👍🏽 '.repeat(2000)}`;
  const responses = [
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
  ];
  const survey = await storeSurvey(responses, { name });
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
});

test('shows what to do after a part of a survey fails to load, and tries again on request', async () => {
  const survey = await storeSurvey([{}]);
  const page = await openPage(`/?survey=${survey.name}`, { provoked: /ERR_FAILED/ });
  const retry = async (part: Locator, result: string) => {
    const sentence = part.getByText(
      'The service cannot be reached. Check your connection, then try again.',
    );
    await sentence.first().waitFor();
    const color = await page.evaluate(
      "getComputedStyle(document.querySelector('.state:not(:empty)')).color",
    );
    expect(color).toBe('rgb(179, 38, 30)');
    const again = part.getByRole('button', { name: 'Try again' });
    const count = await again.count();
    await again.first().click();
    await part.getByText(result, { exact: true }).first().waitFor();
    expect(await again.count()).toBe(count - 1);
  };
  const region = (name: string) => page.getByRole('region', { name });
  let isBroken = true;
  await page.route('**/responses/answers*', (route) =>
    isBroken ? route.abort() : route.fallback(),
  );
  await abortFirst(page, '/responses/summary');
  await enterKey(page, survey.account.key);
  await retry(region('Selection'), '1 participant, 1 answer');
  // The numbers, the days and the questions are of the same request.
  const results = region('Results');
  await retry(results, 'Selected');
  await retry(results, 'Participants per day, up to 1');
  await results.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.card').getByText('The service cannot be reached.').waitFor();
  isBroken = false;
  await retry(page.locator('.card'), 'Not shown: 1 other text, in 1 record.');
  await abortFirst(page, '/responses?');
  await openView(page, 'Answers');
  await retry(region('Answers'), 'Answer');
});

test('a survey without answers is one sentence, no error; a minute later, those that have arrived are counted', async () => {
  const survey = await createSurvey(await createAccount());
  const page = await openPage(`/?survey=${survey.name}`);
  await page.clock.install();
  const sentence = page.getByText('This survey has no answers yet.', { exact: true });
  await enterKey(page, survey.account.key);
  await sentence.waitFor();
  await selected(page, 'No answers yet.');

  await page.getByRole('link', { name: 'All surveys' }).click();
  await expect.poll(() => page.getByText('0 answers').count()).toBe(1);
  await page.getByRole('link', { name: survey.name }).click();
  await sentence.waitFor();
  await addResponses(survey, [{ response: 'The first' }]);
  await page.clock.runFor(60_000);
  await openView(page, 'Results');
  await selected(page, '1 participant, 1 answer');
  await page.getByRole('figure').waitFor();
});

test('a survey is counted once: what the list has counted, or still counts, is shown at once, and again after a minute', async () => {
  const survey = await storeSurvey([{ userid: 'a' }, { userid: 'b', form: 1 }]);
  const page = await openPage('/');
  let requests = 0;
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith('/summary') && !/since|stops/.test(search)) requests++;
  });
  await page.clock.install();
  const openIt = () => page.getByRole('link', { name: survey.name }).click();
  const expectCounted = async () => {
    await selected(page, '2 participants, 2 answers');
    await page.getByRole('figure').waitFor();
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
  await expect.poll(() => second.held).toBe(2); // today's too
  await selected(page, '2 participants, 2 answers');
  second.release();
  await expectCounted();
  expect(requests).toBe(2);
});
