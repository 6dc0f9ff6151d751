import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { type Interpreter, findInterpreter, findPython } from '../support/programs.ts';
import { type Display, openPage, saved } from './browser.ts';
import { enterKey } from './home.ts';

const NAME = `It's “Ümläut” & $(more) \\n`;
const DAYS = 10;
/** Between things that do not touch, in pixels. */
const LEAST_SPACE = 6;
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), NAME, 4); // shortcodes f0 and f1
  await addResponses(
    survey,
    Array.from({ length: 24 * DAYS }, (_, hour) => ({
      form: hour % 4,
      userid: `participant ${hour % 7}`,
      question_ref: `q${hour % 3}`,
      question_text: `Question ${hour % 3}?${hour % 3 === 0 ? '\nA) A tap at home\nB) A river' : ''}`,
      timestamp: new Date(Date.UTC(2026, 2, 1, hour)).toISOString(),
      flowid: hour % 7 === 1 ? `${hour}` : '1', // participant 1 took the forms often
      response: hour % 6 === 0 ? 'A' : `answer, "${hour}"`,
      translated_response: hour % 5 === 0 ? `translated ${hour}` : null,
      metadata: JSON.stringify(hour % 7 === 0 ? { tester: true } : { cluster: `c${hour % 3}`, 'a "key"': hour }),
    })),
  );
});

/** Opens the survey with the selection of a link. */
async function open(parameters: Record<string, string | string[]> = {}, display: Display = {}) {
  const opened = await openPage(`/${query({ survey: NAME, ...parameters })}`, display);
  await enterKey(opened.page, survey.account.key);
  return opened;
}
const match = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
const parametersOf = (page: Page) => [...new URL(page.url()).searchParams].filter(([name]) => name !== 'survey');
/** Opens the list of a label, and checks the boxes with these names. */
async function choose(page: Page, label: string, ...names: string[]): Promise<void> {
  await page.locator('summary').filter({ hasText: label }).click();
  for (const name of names) await page.getByRole('group', { name: label }).getByLabel(name).check();
}

describe('the number of matching answers, the link and the program', () => {
  test('follow the form as it changes', async () => {
    await using opened = await open({}, { timezoneId: 'America/New_York' });
    const { page } = opened;
    await match(page, `7 participants, ${24 * DAYS} answers`);
    expect(parametersOf(page)).toEqual([]);

    // In New York, daylight saving time begins at 02:00 on 8 March 2026.
    await page.getByLabel('From', { exact: true }).fill('2026-03-08');
    await page.getByLabel('To', { exact: true }).fill('2026-03-08');
    await match(page, '23 answers');
    expect(parametersOf(page)).toEqual([
      ['since', '2026-03-08T05:00:00.000Z'],
      ['until', '2026-03-09T04:00:00.000Z'],
    ]);

    await choose(page, 'Forms', 'Title 3');
    expect(new URL(page.url()).searchParams.get('shortcode')).toBe('f1');
    await choose(page, 'Questions', 'q1', 'q2');
    await page.getByLabel('Participant ID').fill('participant 3');
    const filters = { shortcode: 'f1', question_ref: ['q1', 'q2'], userid: 'participant 3' };
    const { text } = await fetchApi(
      `/responses/summary${query({ survey: NAME, since: '2026-03-08T05:00:00Z', until: '2026-03-09T04:00:00Z', ...filters })}`,
      { key: survey.account.key },
    );
    const { responses } = JSON.parse(text) as { responses: number };
    expect(responses).toBeGreaterThan(0);
    await match(page, `${responses} answer`);

    await page.getByLabel('Participant ID').fill('nobody');
    await match(page, 'No answers match.');
    expect(await page.getByRole('button', { name: 'Download', exact: true }).isDisabled()).toBe(true);
    expect(opened.problems).toEqual([]);
  });

  test('a search among many choices selects nothing, and keeps what is selected', async () => {
    const many = await createSurvey(survey.account);
    await addResponses(
      many,
      Array.from({ length: 60 }, (_, i) => ({ question_ref: `q${i}`, question_text: `Texto número ${i}` })),
    );
    await using opened = await openPage(`/${query({ survey: many.name, format: 'nope' })}`);
    const { page } = opened;
    await enterKey(page, survey.account.key);
    await choose(page, 'Questions');
    const list = page.getByRole('group', { name: 'Questions' });
    const search = page.getByRole('searchbox', { name: 'Search: Questions' });
    await search.fill('NUMERO 59');
    await expect.poll(() => list.getByRole('checkbox').count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('format')).toBe('nope'); // nothing has been changed yet
    await search.press('Enter');
    await list.getByLabel('q59').check();
    await search.fill('7');
    await list.getByLabel('q17').check();
    expect(parametersOf(page)).toEqual([
      ['question_ref', 'q59'],
      ['question_ref', 'q17'],
    ]);
    await search.fill('');
    await expect.poll(() => list.getByRole('checkbox').count()).toBe(50);
    await page.getByRole('form').getByRole('button', { name: 'Show more (50 of 60 shown)' }).click();
    expect(await list.getByLabel('q59').isChecked()).toBe(true);
    expect(await page.getByRole('region', { name: 'Downloads' }).getByRole('listitem').count()).toBe(0);
    expect(opened.problems).toEqual([]);
  });

  test('a link opens the same selection again, even in a time zone where its times are not midnight', async () => {
    const parameters = {
      since: '2026-03-08T05:00:00.000Z',
      until: '2026-03-09T04:00:00.123456Z',
      userid: 'participant 3',
      layout: 'wide',
      value: 'translated',
      repeats: 'drop',
      shortcode: ['f1', 'no longer there'],
      metadata: 'a "key"',
      require_metadata: 'cluster',
      format: 'csv-excel',
    };
    await using opened = await open(parameters, { timezoneId: 'Asia/Kolkata' });
    const { page } = opened;
    await match(page, 'Selected: ');
    await page
      .getByLabel('If several forms ask the same question', { exact: true })
      .selectOption('one column for all forms');
    await page
      .getByLabel('If several forms ask the same question', { exact: true })
      .selectOption('one column for each form');
    const shown = parametersOf(page).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const expected = Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    expect(shown).toEqual(expected.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)));
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-03-08T10:30');
    await page.getByLabel('From', { exact: true }).fill('2026-03-08T10:31:00');
    expect(new URL(page.url()).searchParams.get('since')).toBe('2026-03-08T05:01:00.000Z');
  });

  test.each([
    [{ until: 'garbage' }, ['until=garbage is not a date.']],
    [{ since: '2026-13-01' }, ['since=2026-13-01 is not a date.']],
    [
      { format: 'nope', layout: 'constructor', value: 'foo', repeats: 'toString', columns: '__proto__' },
      ['format=nope', 'layout=constructor', 'value=foo', 'repeats=toString', 'columns=__proto__'].map(
        (part) => `${part} was not recognised.`,
      ),
    ],
    [{ format: 'toString' }, ['format=toString was not recognised.']],
    [{ count: 'true', tz: 'UTC' }, ['count=true was not recognised.', 'tz=UTC was not recognised.']],
    [{ userid: ['participant 3', 'participant 4'] }, ['userid=participant 4 was ignored: only one value is possible.']],
    // The defaults of the API.
    [{ layout: 'long', value: 'response', repeats: 'last', columns: 'form_question', format: 'xlsx', userid: '' }, []],
  ])('what a link asks for and the page does not do is shown: %o', async (parameters, expected) => {
    await using opened = await open(parameters);
    const { page } = opened;
    await match(page, 'Selected: ');
    expect(await page.getByRole('alert').getByRole('listitem').allTextContents()).toEqual(expected);
    if (expected.length === 0) return;
    const { href } = new URL(`/${query({ survey: NAME, ...parameters })}`, page.url());
    expect(page.url()).toBe(href);
    await page.getByLabel('Participant ID').fill('participant 5');
    await expect.poll(() => parametersOf(page)).toEqual([['userid', 'participant 5']]);
    expect(opened.problems).toEqual([]);
  });

  test('a link without a survey shows the list, and what it does not use', async () => {
    await using opened = await openPage('/?until=2026-03-01');
    await enterKey(opened.page, survey.account.key);
    await opened.page.getByRole('link', { name: NAME }).waitFor();
    await opened.page.getByRole('alert').getByText('The link names no survey.').waitFor();
    expect(opened.problems).toEqual([]);
  });

  test('a disabled button looks disabled', async () => {
    await using opened = await open();
    const { page } = opened;
    await match(page, 'Selected: ');
    const button = page.getByRole('button', { name: 'Download', exact: true });
    const look = () =>
      page.evaluate<string[]>(`(() => {
        const { backgroundColor, color, borderStyle } = getComputedStyle(document.querySelector('.download button.main'));
        return [backgroundColor, color, borderStyle];
      })()`);
    const enabled = await look();
    await page.getByLabel('Participant ID').fill('nobody');
    await expect.poll(() => button.isDisabled()).toBe(true);
    for (const [i, value] of (await look()).entries()) expect(value).not.toBe(enabled[i]);
  });

  test('fits a phone with long names, and has room for the texts of its lists', async () => {
    const questions = Array.from({ length: 12 }, (_, i) => `household_members_count_${10 + i}`);
    const named = await createSurvey(survey.account);
    await addResponses(
      named,
      questions.map((question_ref) => ({ question_ref, metadata: JSON.stringify({ [question_ref]: 1 }) })),
    );
    const path = `/${query({ survey: named.name, layout: 'wide', question_ref: questions, metadata: questions })}`;
    await using opened = await openPage(path, { width: 320 });
    const { page } = opened;
    await enterKey(page, survey.account.key);
    await match(page, 'Selected: ');
    await page.getByText('12 questions', { exact: true }).waitFor();
    await page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");
    await page.getByRole('group', { name: 'More columns' }).getByLabel('household_members_count_10').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);

    await page.setViewportSize({ width: 1280, height: 800 });
    const cut = await page.evaluate<string[]>(`(() => {
      const context = document.createElement('canvas').getContext('2d');
      const ARROW = 40;
      return [...document.querySelectorAll('.download select')].flatMap((select) => {
        context.font = getComputedStyle(select).font;
        return [...select.options].map((option) => option.text).filter((text) => context.measureText(text).width > select.clientWidth - ARROW);
      });
    })()`);
    expect(cut).toEqual([]);
    const box = async (label: string) =>
      (await page.getByLabel(label, { exact: true }).boundingBox()) as Record<'x' | 'y' | 'width', number>;
    const [from, to] = [await box('From'), await box('To')];
    expect(from.y).toBe(to.y);
    expect(to.x - from.x - from.width).toBeGreaterThanOrEqual(LEAST_SPACE);
    // Nor does a line touch a button.
    const touching = await page.evaluate<string[]>(`(() => {
      const nodes = [...document.querySelectorAll('main *')].filter((node) => node.checkVisibility());
      const lines = nodes.filter((node) => !node.closest('button, .button, input, select')).flatMap((node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        const { borderTopWidth, borderBottomWidth } = getComputedStyle(node);
        return [[borderTopWidth, top], [borderBottomWidth, bottom]].flatMap(([width, y]) =>
          width === '0px' ? [] : [{ node, left, right, y }]);
      });
      return nodes.filter((node) => node.matches('button, .button')).flatMap((button) => {
        const { left, right, top, bottom } = button.getBoundingClientRect();
        return lines
          .filter((line) => line.left < right && left < line.right)
          .filter(({ y }) => y > top - ${LEAST_SPACE} && y < bottom + ${LEAST_SPACE})
          .map(({ node }) => button.textContent + ' touches ' + node.localName + '.' + node.className);
      });
    })()`);
    expect(touching).toEqual([]);
  });

  test('a day ends at midnight, also where daylight saving time begins at its midnight', async () => {
    await using opened = await open({}, { timezoneId: 'Africa/Cairo' });
    const { page } = opened;
    await page.getByLabel('To', { exact: true }).fill('2026-04-24');
    expect(parametersOf(page)).toEqual([['until', '2026-04-24T21:00:00.000Z']]);
  });

  test('the numbers are those of the file, with how many participants it leaves out', async () => {
    await using opened = await open({ layout: 'wide' });
    const { page } = opened;
    const expectNumber = (text: string) => page.getByText(text, { exact: true }).waitFor();
    const repeats = page.getByLabel('If someone took a form more than once');
    const rowsPer = (name: string) => page.getByLabel(`One row per ${name}`);

    await expectNumber('Selected: 7 participants, 240 answers');
    await repeats.selectOption('leave the participant out');
    await expectNumber('Selected: 6 participants, 205 answers. 1 participant is left out.');
    await choose(page, 'Leave out testers', 'cluster');
    await expectNumber('Selected: 5 participants, 170 answers. 2 participants are left out.');
    await rowsPer('answer').check();
    await expectNumber('Selected: 7 participants, 240 answers');

    await rowsPer('participant').check();
    const download = page.getByRole('button', { name: 'Download', exact: true });
    await page.getByLabel('Participant ID').fill('participant 1');
    await expectNumber('The only participant is left out. Change the selection.');
    expect(await download.isDisabled()).toBe(true);
    await page.getByLabel('Participant ID').fill('');
    await page.getByRole('group', { name: 'Leave out testers' }).getByLabel('tester').check();
    await expectNumber('All 7 participants are left out. Change the selection.');
    await page.getByRole('radio', { name: 'Codebook' }).check();
    await expectNumber('Selected: 7 participants, 240 answers');
    expect(await download.isDisabled()).toBe(false);
    expect(opened.problems).toEqual([]);
  });

  test('choices as text are offered even if only an older text of a question lists choices', async () => {
    const changed = await createSurvey(survey.account);
    await addResponses(changed, [
      { question_text: 'Tap?\nA) Yes\nB) No', response: 'A', timestamp: '2026-03-01T00:00:00Z' },
      { question_text: 'Tap?', response: 'Yes', userid: 'b', timestamp: '2026-03-02T00:00:00Z' },
    ]);
    await using opened = await openPage(`/${query({ survey: changed.name, layout: 'wide' })}`);
    const { page } = opened;
    await enterKey(page, survey.account.key);
    await page.getByLabel('Answers', { exact: true }).selectOption('choices as text, where the question lists them');
    expect(parametersOf(page)).toContainEqual(['value', 'label']);
    expect(opened.problems).toEqual([]);
  });

  test('what a format does not take is neither offered nor sent', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.getByLabel('One row per participant').check();
    await page.getByLabel('Answers', { exact: true }).selectOption('translated, where there is a translation');
    const codebook = page.getByRole('checkbox', { name: 'With the codebook' });
    await codebook.check();
    await page.getByText('Code and link for this selection').click();
    const curl = page.getByRole('group', { name: 'curl' });
    expect(await curl.textContent()).toContain('codebook=true');
    await page.getByLabel('NDJSON').check();
    expect(await page.getByText('Table layout').isVisible()).toBe(false);
    expect(await codebook.isVisible()).toBe(false);
    expect(await curl.textContent()).not.toMatch(/layout|value|codebook/);
    await page.getByRole('radio', { name: 'Codebook' }).check();
    expect(await page.getByLabel('If several forms ask the same question', { exact: true }).isVisible()).toBe(true);
    expect(await page.getByLabel('One row per participant').isVisible()).toBe(false);
    await page.getByLabel('CSV For R').check();
    expect(await curl.textContent()).toContain('layout=wide');
  });
});

/** Selections as programs, with the request that they stand for. */
const programs: [
  name: string,
  selection: Record<string, string | string[]>,
  path: string,
  file: string,
  about: string,
][] = [
  [
    'wide CSV for Excel',
    {
      format: 'csv-excel',
      layout: 'wide',
      value: 'label',
      question_ref: ['q0', 'q1'],
      metadata: 'a "key"',
      require_metadata: 'cluster',
    },
    '/responses/csv',
    'responses.csv',
    'CSV for Excel · One row per participant · Questions: q0, q1 · More columns: a "key" · Leave out testers: cluster · Answers: choices as text, where the question lists them',
  ],
  [
    'codebook',
    { format: 'codebook', columns: 'question' },
    '/responses/questions',
    'codebook.csv',
    'Codebook · If several forms ask the same question: one column for all forms',
  ],
];

describe('the button and the programs', () => {
  const languages = [
    { name: 'curl', interpreter: findInterpreter.curl() },
    { name: 'Python', interpreter: findPython(['survey_export', 'requests']) },
    { name: 'Python with requests', interpreter: findInterpreter.python() },
    { name: 'R', interpreter: findInterpreter.r() },
  ];

  test.each(programs)('download the same bytes as the API: %s', async (_, selection, path, fileName, about) => {
    await using opened = await open(selection);
    const { page } = opened;
    await match(page, 'Selected: ');
    await page.getByText('Code and link for this selection').click();
    const { format, ...parameters } = selection;
    const added = { 'csv-excel': { bom: 'true', safe: 'true' }, codebook: { format: 'csv' } }[String(format)];
    const { bytes } = await fetchApi(path + query({ survey: NAME, ...parameters, ...added }), survey.account);
    expect(bytes.length).toBeGreaterThan(200);
    const file = await saved(page, () => page.getByRole('button', { name: 'Download', exact: true }).click());
    expect(file.bytes).toEqual(bytes);
    await page.getByRole('region', { name: 'Downloads' }).getByText(about, { exact: true }).waitFor();

    for (const { name, interpreter } of languages) {
      const program = await page.getByRole('group', { name, exact: true }).textContent();
      expect(program).not.toContain(survey.account.key);
      const found = await interpreter;
      if ('missing' in found) continue;
      expect(await run(found, program ?? '', fileName)).toEqual(bytes);
    }
  });
});

/** Runs a program in a new folder. @returns the file that it saves */
async function run(interpreter: Interpreter, program: string, file: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-program-'));
  try {
    await writeFile(join(folder, 'program'), program);
    // R reads programs in the encoding of the locale.
    const env = { SURVEY_EXPORT_KEY: survey.account.key, LC_ALL: 'C.UTF-8' };
    const finished = await interpreter.run('program', { cwd: folder, env });
    expect(finished).toEqual({ status: 0, stdout: '', stderr: '' });
    return await readFile(join(folder, file));
  } finally {
    await rm(folder, { recursive: true });
  }
}
