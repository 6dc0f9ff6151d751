import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { origin, query } from '../support/api.ts';
import {
  type TestResponse,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  sql,
} from '../support/data.ts';
import { type Selection, fileOf } from './home.ts';

/* What the page makes of an older file, without a browser. */

/** Days in March 2026, each with some responses that tie in time. */
const DAYS = [2, 4, 6, 8, 10, 12];
const day = (number: number, time = '00:00:00Z') =>
  `2026-03-${String(number).padStart(2, '0')}T${time}`;

const METADATA = [
  null,
  'null',
  '{"a": {"ad_id": 7}, "ad_id": 7.10, "é": "\\"x\\""}',
  '{"ad_id": {"a": [1]}, "é": null}',
];

function responseAt(i: number, number: number): TestResponse {
  return {
    form: i % 4,
    userid: i % 2 === 0 ? 'Åsa, "7"' : `user ${i}`,
    question_ref: `q${i % 3}`,
    question_text: 'Line 1?\nLine 2',
    response: i === 1 ? '-5' : `Answer ${i}, \n"🌍"`,
    translated_response: [null, '', 'translated'][i % 3] ?? null,
    pageid: i % 4 === 0 ? '' : null,
    metadata: METADATA[i % 4] ?? null,
    timestamp: day(number, i < 4 ? '00:00:00Z' : `23:59:59.99${i}047Z`),
  };
}

/** A survey with two versions of each of two forms. */
async function createChanging(): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), 'Health & Habits 2026', 4);
  const responses = DAYS.flatMap((number) =>
    Array.from({ length: 8 }, (_, i) => responseAt(i, number)),
  );
  await addResponses(survey, responses);
  return survey;
}

/** A survey, its old file, and a late response on each of two days that are not neighbours. */
async function createOutdated(): Promise<{ survey: TestSurvey; old: Buffer }> {
  const survey = await createChanging();
  const old = await fileOf(survey);
  await addResponses(survey, [
    { ...responseAt(0, 4), question_ref: 'late' },
    { ...responseAt(0, 10), question_ref: 'late' },
  ]);
  return { survey, old };
}

/** Changes the survey. @param text SQL, in which `{forms}` stands for a condition on the forms */
const change = ({ forms }: TestSurvey, text: string) =>
  sql(text.replace('{forms}', 'surveyid = any($1)'), [forms.map(({ id }) => id)]);

/** Replaces the page's requests. */
type Fetch = (url: string, request: RequestInit) => Promise<Response>;

interface Options extends Record<string, unknown> {
  readonly onProgress: (now: { readonly text: string }) => void;
}

interface Updater {
  readonly updateFile: (
    old: File,
    options: Options,
  ) => Promise<{ readonly file: Blob; readonly text: string }>;
}

/** The page's module. Its types are those of browsers, so it cannot be imported with them. */
const { updateFile } = (await import(
  new URL('../../site/home/update/update.ts', import.meta.url).href
)) as Updater;

/** Brings an older file up to date with the service. @returns also what was shown meanwhile */
async function update(
  { name, account }: TestSurvey,
  old: Buffer | string,
  selection: Selection = {},
  request: Fetch = fetch,
) {
  const open = (path: string, params: [string, string][], signal: AbortSignal) =>
    request(`${origin()}/api/v1${path}?${String(new URLSearchParams(params))}`, {
      signal,
      headers: { Authorization: `Bearer ${account.key}` },
    });
  const json = async (...args: Parameters<typeof open>) => (await open(...args)).json();
  const parts: Blob[] = [];
  const params = [...new URLSearchParams(query({ survey: name, ...selection }))];
  const shown: string[] = [];
  const updated = await updateFile(new File([old], 'old.csv'), {
    api: { open, json },
    storage: {
      join: async (blob: Blob) => blob,
      writePart: async (number: number, part: Blob) => void (parts[number] = part),
      parts: async (count: number) => parts.slice(0, count),
    },
    manifest: { request: { path: '/responses/csv', params, format: 'other' }, after: '', parts: 0 },
    signal: new AbortController().signal,
    onProgress: ({ text }) => shown.push(text),
  });
  return { ...updated, shown };
}

/** Calls `meanwhile` before each request for a path is sent, and after its response has arrived. */
const around =
  (path: string, meanwhile: () => Promise<unknown>): Fetch =>
  async (url, request) => {
    if (!url.includes(path)) return fetch(url, request);
    await meanwhile();
    const response = await fetch(url, request);
    const body = await response.arrayBuffer();
    await meanwhile();
    return new Response(body, response);
  };

/** Expects that an old file becomes what the service would send now. @returns the new file */
async function expectUpdated(
  survey: TestSurvey,
  old: Buffer | string,
  days: string,
  selection: Selection = {},
  request: Fetch = fetch,
): Promise<string> {
  const { file, text, shown } = await update(survey, old, selection, request);
  const updated = await file.text();
  expect(updated).toBe(String(await fileOf(survey, selection)));
  expect(shown).toContainEqual(
    expect.stringMatching(/^Comparing your file with the survey: .+ of .+$/),
  );
  expect(text).toContain(`Up to date. Days: ${days}.`);
  return updated;
}

test('an older file becomes a fresh one: late, edited and deleted responses, at the beginning and at the end', async () => {
  const survey = await createChanging();
  const old = await fileOf(survey);
  await expectUpdated(survey, old, '6 unchanged, 0 changed, 0 new, 0 gone');

  await change(
    survey,
    `update responses set response = 'edited' where {forms} and timestamp = '${day(4)}'`,
  );
  await change(survey, `delete from responses where {forms} and timestamp < '${day(3)}'`);
  await change(
    survey,
    `delete from responses where {forms} and timestamp between '${day(8, '12:00Z')}' and '${day(9)}'`,
  );
  await addResponses(survey, [
    { ...responseAt(0, 1), question_ref: 'late', timestamp: day(1, '05:00Z') },
    { ...responseAt(0, 12), question_ref: 'later' },
    { ...responseAt(0, 31), timestamp: day(31, '23:59:59.999999Z') },
  ]);
  const file = await expectUpdated(survey, old, '2 unchanged, 3 changed, 2 new, 1 gone');
  await expectUpdated(survey, file, '7 unchanged, 0 changed, 0 new, 0 gone');
  // The file of a broken transfer, which ends within a record.
  await expectUpdated(survey, old.subarray(0, -300), '2 unchanged, 3 changed, 2 new, 1 gone');
});

test('it becomes what is selected now: with filters, metadata columns, and forms whose shortcodes have changed', async () => {
  const survey = await createChanging();
  const selection = {
    since: day(2, '00:00:00.000047Z'),
    until: day(12, '23:59:59.996047Z'),
    shortcode: ['f0', 'f1'],
    question_ref: ['q0', 'q1'],
    metadata: ['é', 'ad_id'],
  };
  const old = await fileOf(survey, selection);
  await change(
    survey,
    `update surveys set shortcode = 'f1' where id = any($1) and shortcode = 'f0'`,
  );
  await change(survey, `update responses set shortcode = 'f1' where {forms}`);
  await change(
    survey,
    `update responses set metadata = '{"é": 1.10}' where {forms} and timestamp < '${day(3)}'`,
  );
  await expectUpdated(survey, old, '5 unchanged, 1 changed, 0 new, 0 gone', selection);

  // Of the columns of metadata, the file decides on the order.
  const swapped = { ...selection, metadata: ['ad_id', 'é'] };
  const other = await fileOf(survey, swapped);
  const { file } = await update(survey, other, selection);
  expect(await file.text()).toBe(String(other));

  // If nothing is selected any more, the header is left.
  const until = { until: day(3) };
  const first = await fileOf(survey, until);
  await change(survey, `delete from responses where {forms} and timestamp < '${day(3)}'`);
  await expectUpdated(survey, first, '0 unchanged, 0 changed, 0 new, 1 gone', until);
});

test('it is repaired where somebody has changed what digests leave out: values, quotes and the order', async () => {
  const survey = await createChanging();
  const old = String(await fileOf(survey));
  const [header, ...records] = old.match(/(?:[^"\n]|"[^"]*")*\n/g) ?? [];
  const [first = '', second = '', ...others] = records;
  for (const edited of [
    old.replace(',7.10,', ',7.1,'),
    old.replace(',7.10,', ',7,'), // that of an inner object
    old.replace(',q0,', ',"q0",'),
    [header, second, first, ...others].join(''),
    // The order of a day, as in a database with another collation.
    [header, ...records.slice(2, 4), first, second, ...records.slice(4)].join(''),
  ]) {
    expect(edited).not.toBe(old);
    await expectUpdated(survey, edited, '6 unchanged, 0 changed, 0 new, 0 gone');
  }
});

test('while it is brought up to date, responses may change: the days are downloaded again, a few times', async () => {
  const { survey, old } = await createOutdated();
  let changes = 0;
  let most = 3;
  const changing = around('/responses/csv', async () => {
    if (changes++ < most)
      await addResponses(survey, [{ ...responseAt(0, 4), question_ref: `meanwhile ${changes}` }]);
  });
  await expectUpdated(survey, old, '4 unchanged, 2 changed, 0 new, 0 gone', {}, changing);
  most = Infinity;
  await expect(update(survey, old, {}, changing)).rejects.toThrow(
    'The answers keep changing while they are',
  );
});

test('while it is brought up to date, a form may be added: the shortcodes are read again', async () => {
  const { survey, old } = await createOutdated();
  const { promise: added, resolve } = Promise.withResolvers<void>();
  let moments = 0;
  const adding = around('/form-data', async () => {
    if (++moments !== 2) return;
    await sql(`update surveys set metadata = '{"new": true}' where id = $1`, [survey.forms[0]?.id]);
    resolve();
  });
  const request: Fetch = async (url, options) => {
    if (url.includes('/digests')) await added;
    return adding(url, options);
  };
  await expectUpdated(survey, old, '4 unchanged, 2 changed, 0 new, 0 gone', {}, request);
  expect(moments).toBe(4); // two requests
});

/** Makes a file from the current one. */
type Make = (old: string, survey: TestSurvey) => Buffer | string | Promise<Buffer>;

const REFUSED: [kind: string, text: string, make: Make, selection?: Selection][] = [
  ['that is compressed', 'This file is compressed.', (old) => gzipSync(old)],
  ['for Excel', 'changes the data', (old) => `\uFEFF${old}`],
  ['with apostrophes', 'changes the data', (_, survey) => fileOf(survey, { safe: 'true' })],
  [
    'in the wide layout',
    'one row per participant',
    (_, survey) => fileOf(survey, { layout: 'wide' }),
  ],
  ['that is a workbook', 'an Excel workbook', () => 'PK\u0003\u0004'],
  [
    'with a record that is damaged',
    'Row 2 of this file is damaged',
    (old) => old.replace(',7.10,', ',7.10,,'),
  ],
  [
    'whose rows are sorted otherwise',
    'original order (row 2)',
    (old) => old.replace(day(2, ''), day(3, '')),
  ],
  [
    'of another survey',
    'from another survey',
    (old) => old.replaceAll(/[\da-f-]{36}/g, randomUUID()),
  ],
  [
    'with other columns',
    'choose exactly these: é',
    (_, survey) => fileOf(survey, { metadata: 'é' }),
  ],
  ['without columns that are selected', 'choose none', (old) => old, { metadata: 'é' }],
  [
    'with more questions',
    'answers that are not selected',
    (old) => old,
    { question_ref: ['q0', 'q1'] },
  ],
  [
    'with earlier days',
    'answers that are not selected',
    (old) => old,
    { since: day(2, '00:00:00.001Z') },
  ],
  [
    'with later days',
    'answers that are not selected',
    (old) => old,
    { until: day(12, '23:59:59.997Z') },
  ],
];

let unchanged: TestSurvey;
beforeAll(async () => {
  unchanged = await createChanging();
});

test.each(REFUSED)('a file %s is refused', async (_, text, make, selection) => {
  const file = await make(String(await fileOf(unchanged)), unchanged);
  await expect(update(unchanged, file, selection)).rejects.toThrow(text);
});
