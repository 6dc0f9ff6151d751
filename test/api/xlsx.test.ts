import readExcelFile from 'read-excel-file/node';
import { describe, expect, test } from 'vitest';
import { type TestResponse, type TestSurvey, createAccount, storeSurvey } from '../support/data.ts';
import {
  LAYOUTS,
  NUMBERS_TABLE,
  type Rows,
  expectNumbers,
  expectSheets,
  hardResponses,
  numberResponses,
} from '../support/hard-workbook.ts';
import { readWorkbook, readZip } from '../support/xlsx.ts';
import { type Parameters, expectError, get } from './requests.ts';

const LONGEST = 32_767;

const download = (survey: TestSurvey, parameters: Parameters = {}) =>
  get('/responses/xlsx', survey, parameters);

/** A file in a workbook. */
const xmlOf = (workbook: Buffer, name: string): string =>
  readZip(workbook).get(`xl/${name}.xml`)?.toString() ?? '';

/** The widths of the columns of a workbook's sheet, in characters, by name. */
async function widthsOf(
  survey: TestSurvey,
  parameters: Parameters,
  sheet = 1,
): Promise<Record<string, number>> {
  const { bytes } = await download(survey, parameters);
  const columns = xmlOf(bytes, `worksheets/sheet${sheet}`).matchAll(
    /<col min="(\d+)" max="\1" width="(\d+)" customWidth="1"\/>/g,
  );
  const widths = Array.from(columns, ([, column, width]) => [Number(column), Number(width)]);
  const names = readWorkbook(bytes, sheet)[0] ?? [];
  expect(widths.map(([column]) => column)).toEqual(names.map((_, i) => i + 1));
  return Object.fromEntries(names.map((name, i) => [name, widths[i]?.[1]]));
}

const account = await createAccount();

test('columns are as wide as their names and the first 500 responses require, from 8 to 60 characters', async () => {
  const row = (i: number): TestResponse => ({
    form: 2,
    userid: `u${100 + Math.floor(i / 2)}`,
    question_ref: `q${i % 2}`,
    question_text: 'é'.repeat(200),
    response: (i < 500 ? '"🎉"' : 'x').repeat(10),
    translated_response: i % 2 === 0 ? null : 'x'.repeat(i < 500 ? 45 : 46),
    pageid: 'x'.repeat(59),
    timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
  });
  const survey = await storeSurvey(
    Array.from({ length: 600 }, (_, i) => row(i)),
    { account },
  );
  const long = {
    flowid: 14,
    userid: 8,
    question_text: 60,
    response: 41,
    pageid: 60,
    translated_response: 46,
  };
  expect(await widthsOf(survey, {})).toMatchObject({
    ...long,
    parent_surveyid: 37,
    question_idx: 13,
    ad_id: 8,
  });
  const wide = { userid: 8, attempts: 9, 'f1.q0': 41, 'f1.q1': 46, started: 25 };
  expect(await widthsOf(survey, { layout: 'wide', value: 'translated' })).toMatchObject(wide);
  expect(await widthsOf(survey, { since: '2030-01-01' })).toMatchObject({
    question_text: 14,
    response: 9,
    ad_id: 8,
  });
  const codebook = { column: 8, shortcode: 10, question_text: 60, first: 25, choices: 8 };
  expect(await widthsOf(survey, { codebook: 'true' }, 2)).toMatchObject(codebook);
});

test.each<[what: string, texts: readonly string[], message: string]>([
  [
    'with a text that is too long',
    ['x'.repeat(LONGEST), `${'🎉'.repeat(LONGEST / 2)}xx`],
    'This selection has a codebook with a cell of more than 32767 characters, which an Excel worksheet cannot hold. ' +
      'Narrow it with since, until, shortcode, question_ref or userid, or leave out codebook.',
  ],
  [
    'that is too large',
    Array<string>(150).fill('x'.repeat(30_000)),
    'This selection has too many questions to return at once. Narrow it with shortcode or question_ref, or leave out codebook.',
  ],
])('a codebook %s is refused only if it is requested', async (_, texts, message) => {
  const earlier = {
    question_ref: 'q0',
    question_text: 'x'.repeat(LONGEST + 1),
    timestamp: '2026-01-01T00:00:00Z',
  };
  const rows = [...texts.map((question_text) => ({ question_text })), earlier];
  const survey = await storeSurvey(rows, { account });
  const wide = { layout: 'wide', codebook: 'true' };
  expectError(await download(survey, wide), 400, 'export_too_large', message);
  expect((await download(survey, { ...wide, codebook: 'false' })).status).toBe(200);
  expect((await download(survey, { ...wide, question_ref: 'q0' })).status).toBe(200);
});

describe('a cell of a workbook', () => {
  const withOne = (row: TestResponse) => storeSurvey([{}, row], { account });

  test.each<[string, string, string]>([
    ['of one byte', 'a'.repeat(LONGEST), 'a'],
    ['of three bytes', '漢'.repeat(LONGEST), 'a'],
    ['that CSV doubles', '"'.repeat(LONGEST), '"'],
    ['outside the Basic Multilingual Plane', `${'🎉'.repeat((LONGEST - 1) / 2)}a`, 'a'],
  ])('can have 32,767 UTF-16 code units %s, and no more', async (_, longest, more) => {
    const fits = await withOne({ response: longest });
    expect(readWorkbook((await download(fits)).bytes).flat()).toContain(longest);
    const message =
      'This selection has a cell of more than 32767 characters, which an Excel worksheet cannot hold. ' +
      'Narrow it with since, until, shortcode, question_ref or userid, or download it as CSV.';
    expectError(
      await download(await withOne({ response: longest + more })),
      400,
      'export_too_large',
      message,
    );
  });

  const long = 'a'.repeat(LONGEST + 1);
  test.each<[string, TestResponse, number[]]>([
    ['userid', { userid: long }, [400, 400, 400, 400]],
    ['question_text', { question_text: long }, [400, 200, 200, 200]],
    ['response', { response: long }, [400, 400, 400, 400]],
    ['response, but translated', { response: long, translated_response: '' }, [400, 400, 200, 400]],
    ['translated_response', { translated_response: long }, [400, 200, 400, 200]],
    ['metadata', { metadata: `{"a": "${long}"}` }, [400, 400, 400, 400]],
    ['pageid', { pageid: long }, [400, 200, 200, 200]],
    ['a label', { question_text: `?\nA. ${long}\nB. b`, response: 'a' }, [400, 200, 200, 400]],
    [
      'a label that fits',
      { question_text: `?\nA. ${long.slice(1)}\nB. b`, response: 'A' },
      [400, 200, 200, 200],
    ],
    [
      'a label that is not chosen',
      { question_text: `?\nA. ${long}\nB. b`, response: 'b' },
      [400, 200, 200, 200],
    ],
  ])('can be too long in %s, if the table has it', async (_, row, statuses) => {
    const survey = await withOne(row);
    const layouts: Parameters[] = [
      {},
      { layout: 'wide' },
      ...['translated', 'label'].map((value) => ({ layout: 'wide', value })),
    ];
    const responses = await Promise.all(
      layouts.map(async (parameters) => download(survey, parameters)),
    );
    expect(responses.map(({ status }) => status)).toEqual(statuses);
  });

  test('can be too long outside the selection', async () => {
    const survey = await storeSurvey(
      [{ response: long }, { form: 2, timestamp: '2026-03-02T00:00:00Z' }],
      { account },
    );
    for (const filter of [{ since: '2026-03-02' }, { shortcode: 'f1' }]) {
      expect((await download(survey, filter)).status).toBe(200);
    }
  });

  test('can be too long as the name of a column', async () => {
    const survey = await withOne({ question_ref: 'a'.repeat(LONGEST - 1) });
    expect((await download(survey, { layout: 'wide', columns: 'question' })).status).toBe(200);
    expect((await download(survey, { layout: 'wide' })).status).toBe(400);
  });
});

/** What a program from npm reads. `npm run recipes` does the same with Python's. */
describe('for a program that reads workbooks', () => {
  async function read(file: Buffer): Promise<Record<string, Rows>> {
    const sheets = await readExcelFile(file, { trim: false });
    return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data as Rows]));
  }

  test('a workbook has the cells of the CSV files', async () => {
    const survey = await storeSurvey(hardResponses(), { account });
    for (const { table, codebook } of Object.values(LAYOUTS)) {
      const { bytes } = await download(survey, { ...table, codebook: 'true' });
      const csv = await get('/responses/csv', survey, table);
      const ofCodebook = await get('/responses/questions', survey, { ...codebook, format: 'csv' });
      expectSheets(await read(bytes), { responses: csv.bytes, codebook: ofCodebook.bytes });
    }
  });

  test('a workbook with numbers=true has numbers, ids and texts', async () => {
    const survey = await storeSurvey(numberResponses(), { account });
    const { bytes } = await download(survey, NUMBERS_TABLE);
    expectNumbers((await read(bytes))['responses'] ?? []);
  });
});
