import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../support/api.ts';
import { type TestSurvey, storeSurvey } from '../support/data.ts';
import { newFolder } from '../support/once-per-run.ts';
import { type Interpreter, findCurl, findPython, findR } from '../support/programs.ts';
import { saved } from './browser.ts';
import {
  type Selection,
  cards,
  fileOf,
  openNew,
  openSurvey,
  openView,
  press,
  selected,
  settled,
  visit,
} from './home.ts';

const NAME = `It's “Ümläut” & $(more) \\n`;
const DAYS = 10;
let survey: TestSurvey;

beforeAll(async () => {
  survey = await storeSurvey(
    Array.from({ length: 24 * DAYS }, (_, hour) => ({
      form: hour % 4, // shortcodes f0 and f1
      userid: `participant ${hour % 7}`,
      question_ref: `q${hour % 3}`,
      question_text: `Question ${hour % 3}?${hour % 3 === 0 ? '\nA) A tap at home\nB) A river' : ''}`,
      timestamp: new Date(Date.UTC(2026, 3, 18, hour)).toISOString(),
      flowid: hour % 7 === 1 ? `${hour}` : '1', // participant 1 took the forms often
      response: hour % 6 === 0 ? 'A' : `answer, "${hour}"`,
      translated_response: hour % 5 === 0 ? `translated ${hour}` : null,
      metadata: JSON.stringify(
        hour % 7 === 0 ? { tester: true } : { cluster: `c${hour % 3}`, 'a "key"': hour },
      ),
    })),
    { name: NAME },
  );
});

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const parametersOf = (page: Page) =>
  [...new URL(page.url()).searchParams].filter(([name]) => name !== 'survey' && name !== 'view');
const linkOf = (selection: Selection) =>
  `/${query({ survey: NAME, view: 'download', ...selection })}`;
const openFilter = (page: Page) => page.locator('.selection summary').first().click();
const downloadButton = (page: Page) =>
  page.getByRole('button', { name: 'Download file', exact: true });

/** Opens the list of a label, and checks the boxes with these names. */
async function choose(page: Page, label: string, ...names: string[]): Promise<void> {
  await page.locator('summary').filter({ hasText: label }).click();
  for (const name of names) await page.getByRole('group', { name: label }).getByLabel(name).check();
}

describe('the selection', () => {
  test('follows the filter, also to the days since the last file; a day ends at midnight, also where daylight saving time begins then', async () => {
    // Daylight saving time begins at midnight on 24 April 2026.
    const page = await openSurvey(survey, { view: 'download' }, { timezoneId: 'Africa/Cairo' });
    await selected(page, `7 participants, ${24 * DAYS} answers`);
    expect(parametersOf(page)).toEqual([]);
    const look = () =>
      page.evaluate("getComputedStyle(document.querySelector('.download .main')).backgroundColor");
    const enabled = await look();

    await openFilter(page);
    await field(page, 'From').fill('2026-04-24');
    await field(page, 'To').fill('2026-04-24');
    await selected(page, '7 participants, 23 answers');
    const days = { since: '2026-04-24', until: '2026-04-24' };
    expect(Object.fromEntries(parametersOf(page))).toEqual({ ...days, timezone: 'Africa/Cairo' });

    await choose(page, 'Forms', 'Title 3');
    const forms = page.getByRole('group', { name: 'Forms' }).locator('label');
    expect(await forms.allTextContents()).toEqual(['Title 1', 'Title 3']); // as in a wide file
    await choose(page, 'Questions', 'Question 1?', 'Question 2?');
    await page.getByLabel('Participant ID').fill('participant 3');
    await selected(page, '1 participant, 1 answer');
    await page
      .getByText('24 Apr 2026 · 1 form · 2 questions · participant participant 3')
      .waitFor();

    await page.getByLabel('Participant ID').fill('nobody');
    await selected(page, 'No answers match.');
    await page.getByText('No selected answer is from this participant.').waitFor();
    expect(await downloadButton(page).isDisabled()).toBe(true);
    expect(await look()).not.toBe(enabled); // it looks disabled

    await page.getByRole('link', { name: 'Clear' }).click();
    await selected(page, `7 participants, ${24 * DAYS} answers`);
    expect(parametersOf(page)).toEqual([]);

    await openFilter(page);
    await field(page, 'To').fill('2026-04-01');
    await field(page, 'From').fill('2026-04-02');
    await page
      .getByRole('alert')
      .getByText('This day is before “From”, so it is not applied.')
      .waitFor();
    expect(parametersOf(page).map(([name]) => name)).not.toContain('since');

    await visit(page, linkOf({ format: 'csv' }));
    await settled(page);
    await saved(page, () => press(page, 'Download file'));
    await visit(page, linkOf({}));
    await openFilter(page);
    await page.getByRole('button', { name: 'Since my last file' }).click();
    expect(parametersOf(page).map(([name]) => name)).toEqual(['since', 'timezone']);
  });

  test('of the last seven days or the last week is relative to today, until its days are changed', async () => {
    const page = await openSurvey(survey, {}, { timezoneId: 'UTC' });
    await page.clock.setFixedTime('2026-04-20T12:00:00Z'); // a Monday
    await openFilter(page);
    await press(page, 'Last 7 days');
    await selected(page, '7 participants, 72 answers');
    const link = page.url();
    await page.clock.setFixedTime('2026-04-21T12:00:00Z');
    await visit(page, link);
    await selected(page, '7 participants, 96 answers');
    await page.getByText(/^Last 7 days · 15\s?–\s?21 Apr 2026$/).waitFor();

    await openFilter(page);
    await choose(page, 'Forms', 'Title 3');
    await page.clock.setFixedTime('2026-04-26T23:59:00Z'); // a Sunday
    await press(page, 'Last week');
    await page.getByText(/^Last week · 13\s?–\s?19 Apr 2026 · 1 form$/).waitFor();
    const form = ['shortcode', 'f1'];
    const zone = ['timezone', 'UTC'];
    expect(parametersOf(page)).toEqual([form, ['since', 'last-week'], zone]);
    await field(page, 'To').fill('2026-04-18');
    const days = [
      ['since', '2026-04-13'],
      ['until', '2026-04-18'],
    ];
    expect(parametersOf(page)).toEqual([zone, form, ...days]);
  });

  test('is the same in all views, and does not follow a search among many choices', async () => {
    const page = await openNew(
      Array.from({ length: 60 }, (_, i) => ({
        question_ref: `q${i}`,
        question_text: `Texto número ${i}`,
      })),
      { format: 'nope' },
    );
    await openFilter(page);
    await choose(page, 'Questions');
    const list = page.getByRole('group', { name: 'Questions' });
    const search = page.getByRole('searchbox', { name: 'Search: Questions' });
    await search.fill('NUMERO 59');
    await expect.poll(() => list.getByRole('checkbox').count()).toBe(1);
    // nothing has been changed yet
    expect(new URL(page.url()).searchParams.get('format')).toBe('nope');
    await search.press('Enter');
    await list.getByLabel('Texto número 59').check();
    await search.fill('7');
    await list.getByLabel('Texto número 17').check();
    expect(parametersOf(page)).toEqual([
      ['question_ref', 'q59'],
      ['question_ref', 'q17'],
    ]);
    await search.fill('9');
    expect(await list.getByLabel('Texto número 59').isChecked()).toBe(true);
    await selected(page, '1 participant, 2 answers');
    await openView(page, 'Results');
    await expect
      .poll(() => page.locator('.card h3').allTextContents())
      .toEqual(['Texto número 17', 'Texto número 59']);
    await openView(page, 'Answers');
    await expect.poll(() => page.locator('.answers > li').count()).toBe(2);
  });
});

test('shows whom a file leaves out, by rule, with their IDs', async () => {
  const page = await openSurvey(survey, { view: 'download', layout: 'wide' });
  const left = page.locator('.left');
  const lines = async () => (await left.locator('> p, summary').allInnerTexts()).join(' | ');
  const repeats = page.getByLabel('If someone took a form more than once');
  await repeats.selectOption('leave the participant out');
  await expect
    .poll(lines)
    .toBe('1 participant is left out of the file: | Took a form more than once: 1 participant');
  await choose(page, 'Leave out testers', 'cluster');
  await left.getByText('2 participants are left out of the file:').waitFor();
  await left.getByText('Answers without “cluster”: 1 participant').click();
  await left.getByText('participant 0', { exact: true }).waitFor();
  await page.getByLabel('One row per answer').check();
  await expect.poll(() => left.count()).toBe(0);

  await page.getByLabel('One row per participant').check();
  await page.getByRole('group', { name: 'Leave out testers' }).getByLabel('tester').check();
  await left.getByText('7 participants are left out of the file:').waitFor();
  await page.getByText('No answers to download.').waitFor();
  expect(await downloadButton(page).isDisabled()).toBe(true);
  await page.getByRole('radio', { name: 'Codebook only' }).check();
  await expect.poll(() => left.count()).toBe(0);
  expect(await downloadButton(page).isDisabled()).toBe(false);
});

test('a link opens the same selection again, in its time zone, and what it asks for and the page does not do is shown', async () => {
  const parameters = {
    since: '2026-04-20',
    until: '2026-04-24',
    timezone: 'Africa/Cairo',
    userid: 'participant 3',
    layout: 'wide',
    value: 'translated',
    repeats: 'drop',
    shortcode: ['f1', 'no longer there'],
    metadata: 'a "key"',
    require_metadata: 'cluster',
    format: 'csv-excel',
  };
  const page = await openSurvey(
    survey,
    { view: 'download', ...parameters },
    { timezoneId: 'America/Chicago' },
  );
  const columns = field(page, 'If several forms ask the same question');
  await columns.selectOption('put the answers of all forms together');
  await columns.selectOption('keep the answers of each form apart');
  const sorted = (path: string) =>
    [...new URL(path, page.url()).searchParams].map(String).toSorted();
  expect(sorted(page.url())).toEqual(sorted(linkOf(parameters)));
  await openFilter(page);
  expect(await field(page, 'From').inputValue()).toBe('2026-04-20');
  await page.getByText('Both days are included. Days are in the time zone Africa/Cairo.').waitFor();
  await page.getByText('Code for this file').click();
  const program = page.getByRole('group', { name: 'curl' });
  for (const time of ['2026-04-19T22:00:00.000Z', '2026-04-24T21:00:00.000Z'])
    expect(await program.textContent()).toContain(encodeURIComponent(time).replaceAll('%3A', ':'));

  const unknown = [
    'format=toString',
    'layout=constructor',
    'value=foo',
    'columns=__proto__',
    'timezone=Mars',
    'tz=UTC',
  ];
  const parts = [
    ['since=2026-13-01', 'is not a day.'],
    ['until=garbage', 'is not a day.'],
    ['userid=participant 4', 'was ignored: only one value is possible.'],
  ].concat(unknown.map((part) => [part, 'was not recognised.']));
  const link = [
    linkOf({ userid: 'participant 3' }),
    ...parts.map(([part = '']) => encodeURI(part)),
  ].join('&');
  await visit(page, link);
  await settled(page);
  const problems = page.locator('.cut').getByRole('listitem');
  expect(await problems.allTextContents()).toEqual(parts.map((part) => part.join(' ')));
  expect(page.url()).toBe(new URL(link, page.url()).href);
  await openFilter(page);
  await page.getByLabel('Participant ID').fill('participant 5');
  await expect.poll(() => parametersOf(page)).toEqual([['userid', 'participant 5']]);
  // The defaults of the API.
  const defaults = {
    layout: 'long',
    value: 'response',
    repeats: 'last',
    columns: 'form_question',
    format: 'xlsx',
  };
  await visit(page, linkOf({ ...defaults, userid: '' }));
  await settled(page);
  expect(await problems.count()).toBe(0);

  await visit(page, '/?until=2026-03-01');
  await page.getByRole('link', { name: NAME }).waitFor();
  await page.getByRole('alert').getByText('The link names no survey.').waitFor();
});

/** Selections as programs, with the file of the API that they stand for. */
const programs: [
  selection: Selection,
  path: string,
  added: Selection,
  file: string,
  about: string,
  name: RegExp,
][] = [
  [
    {
      layout: 'wide',
      value: 'label',
      question_ref: ['q0', 'q1'],
      metadata: 'a "key"',
      require_metadata: 'cluster',
      format: 'csv-excel',
    },
    'csv',
    { bom: 'true', safe: 'true' },
    'responses.csv',
    'CSV for Excel · One row per participant · 2 questions · Answers: as given, choices as text · More columns: a "key" · Leave out testers, those without: cluster',
    /^it-s-ümläut-more-n_wide_filtered_[\d-]+_\d{4}\.csv$/,
  ],
  [
    { columns: 'question', format: 'codebook' },
    'questions',
    { format: 'csv' },
    'codebook.csv',
    'Codebook only · If several forms ask the same question: put the answers of all forms together',
    /^it-s-ümläut-more-n_codebook_[\d-]+_\d{4}\.csv$/,
  ],
];

test('the button and the programs download the same bytes as the API, without what a format does not take', async () => {
  const languages = [
    { name: 'curl', interpreter: findCurl() },
    { name: 'Python', interpreter: findPython(['survey_export']) },
    { name: 'R', interpreter: findR() },
  ];
  const page = await openSurvey(survey, { view: 'download' });
  for (const [selection, path, added, fileName, about, name] of programs) {
    await visit(page, linkOf(selection));
    await settled(page);
    await page.getByText('Code for this file').click();
    const { format: _, ...parameters } = selection;
    const bytes = await fileOf(survey, { ...parameters, ...added }, path);
    expect(bytes.length).toBeGreaterThan(200);
    const file = await saved(page, () => press(page, 'Download file'));
    expect(file.bytes).toEqual(bytes);
    await cards(page).getByText(about, { exact: true }).waitFor();
    expect(file.name).toMatch(name);

    for (const { name: language, interpreter } of languages) {
      // the client saves no codebooks as files
      if (language === 'Python' && path === 'questions') continue;
      const program = await page.getByRole('group', { name: language, exact: true }).textContent();
      expect(program).not.toContain(survey.account.key);
      const found = await interpreter;
      if ('missing' in found) continue;
      expect(await run(found, program ?? '', fileName)).toEqual(bytes);
    }
  }

  await visit(page, linkOf({}));
  await page.getByText('Code for this file').click();
  await page.getByLabel('One row per participant').check();
  const codebook = page.getByRole('checkbox', { name: 'With the codebook' });
  await codebook.check();
  const curl = page.getByRole('group', { name: 'curl' });
  expect(await curl.textContent()).toContain('value=label'); // as most people want it
  await field(page, 'Answers').selectOption('translated, choices as letters');
  expect(await curl.textContent()).toMatch(/value=translated.*codebook=true.*numbers=true/s);
  await page.getByText('More options').click();
  await page.getByLabel('Numbers as text').check();
  await page.getByLabel('With times').check();
  await page.getByLabel('Treatment arms').fill('seed_4, seed_2');
  expect(await curl.textContent()).not.toContain('numbers');
  expect(await curl.textContent()).toMatch(/timing=true.*arm=seed_4.*arm=seed_2/s);
  await page.getByText('More formats').click();
  await page.getByLabel('NDJSON').check();
  expect(await page.getByText('Table layout').isVisible()).toBe(false);
  expect(await codebook.isVisible()).toBe(false);
  expect(await curl.textContent()).not.toMatch(/layout|value|codebook/);
  await page.getByRole('radio', { name: 'Codebook only' }).check();
  expect(await field(page, 'If several forms ask the same question').isVisible()).toBe(true);
  expect(await page.getByLabel('One row per participant').isVisible()).toBe(false);
  await page.getByLabel('CSV', { exact: true }).check();
  expect(await curl.textContent()).toContain('layout=wide');
});

/** Runs a program in a new folder. @returns the file that it saves */
async function run(interpreter: Interpreter, program: string, file: string): Promise<Buffer> {
  const folder = await newFolder();
  await writeFile(join(folder, 'program'), program);
  // R reads programs in the encoding of the locale.
  const env = { SURVEY_EXPORT_KEY: survey.account.key, LC_ALL: 'C.UTF-8' };
  const finished = await interpreter.run('program', { cwd: folder, env });
  expect(finished).toEqual({ status: 0, stdout: '', stderr: '' });
  return await readFile(join(folder, file));
}
