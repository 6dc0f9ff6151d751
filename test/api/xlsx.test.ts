import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { render } from '../../src/db/sql.ts';
import { recordsQuery } from '../../src/db/xlsx-limits.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { pgText, questionText } from '../support/arbitraries.ts';
import { csvRecords } from '../support/csv.ts';
import {
  type TestAccount,
  type TestResponse,
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
  withClient,
} from '../support/data.ts';
import { readWorkbook, readZip } from '../support/xlsx.ts';

type Parameters = Record<string, string | readonly string[] | undefined>;

const LONGEST = 32_767;

const get = (survey: TestSurvey, parameters: Parameters = {}, path = '/responses/xlsx', method = 'GET') =>
  fetchApi(`${path}${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key, method });

/** The rows that a workbook must have for a CSV file. A null and an empty text are both an empty cell. */
const rowsOf = (csv: Buffer) =>
  csvRecords(csv).map((record) => {
    const cells = record.map((cell) => cell || null);
    return cells.slice(0, cells.findLastIndex((cell) => cell !== null) + 1);
  });

/** The widths of a workbook's columns, in characters, by name. */
async function widthsOf(survey: TestSurvey, parameters: Parameters): Promise<Record<string, number>> {
  const { bytes } = await get(survey, parameters);
  const xml = readZip(bytes).get('xl/worksheets/sheet1.xml')?.toString() ?? '';
  const widths = [...xml.matchAll(/<col min="(\d+)" max="\1" width="(\d+)" customWidth="1"\/>/g)];
  expect(widths.map(([, column]) => Number(column))).toEqual(readWorkbook(bytes)[0]?.map((_, i) => i + 1));
  return Object.fromEntries(
    widths.map(([, column, width]) => [readWorkbook(bytes)[0]?.[Number(column) - 1], Number(width)]),
  );
}

/** Adds responses at different times. */
const addAll = (survey: TestSurvey, rows: readonly TestResponse[]) =>
  addResponses(
    survey,
    rows.map((row, i) => ({ ...row, timestamp: `2026-03-01T00:00:00.${100 + i}Z` })),
  );

const text = fc
  .array(
    fc.oneof(
      pgText,
      fc.constantFrom('_x0041_', '_x0041', '_x005F_', '\u0001', '\ufffe\uffff', '\u2028', '<&>', '=1+1', ' '),
    ),
    {
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(''));
const anyResponses = fc.array(
  fc.record({
    form: fc.integer({ min: 0, max: 2 }),
    userid: fc.oneof(fc.constantFrom('0012', 'b'), text),
    flowid: fc.constantFrom('1', '2', '9007199254740993'),
    parent_shortcode: fc.constantFrom('p', '', ' q'),
    question_ref: fc.oneof(fc.constantFrom('q1', 'q2'), text),
    question_text: fc.oneof(text, questionText),
    response: fc.oneof(text, fc.constantFrom('A', 'b')),
    translated_response: fc.option(text),
    pageid: fc.option(text),
    metadata: fc.constantFrom(null, '{}', '{"a": "=1", "n": 1.0}', '{"a": " x_x0041_\\r"}'),
  }),
  { minLength: 1, maxLength: 12 },
);

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

describe('a workbook', () => {
  test('has the cells of the CSV file, for any rows and parameters', async () => {
    const anyParameters: fc.Arbitrary<Parameters> = fc.oneof(
      fc.record({ metadata: fc.constantFrom(['a', 'n'], ['x y']) }, { requiredKeys: [] }),
      fc.record(
        {
          layout: fc.constant('wide'),
          metadata: fc.constant(['a']),
          value: fc.constantFrom('translated', 'label'),
          repeats: fc.constantFrom('first', 'drop'),
          require_metadata: fc.constant(['a']),
        },
        { requiredKeys: ['layout'] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(anyResponses, anyParameters, async (rows, parameters) => {
        const survey = await createSurvey(account, undefined, 3);
        await addAll(survey, rows);
        const file = await get(survey, parameters);
        expect(file.status).toBe(200);
        expect(readWorkbook(file.bytes)).toEqual(rowsOf((await get(survey, parameters, '/responses/csv')).bytes));
      }),
      { numRuns: 15 },
    );
  });

  test('has every response once, over many pages', async () => {
    const survey = await createSurvey(account, undefined, 3);
    await addResponses(
      survey,
      Array.from({ length: 6000 }, (_, i) => ({
        form: i % 3,
        question_ref: `q${i}`,
        response: `${i}, "é🎉"\r\n`.repeat(i % 200),
      })),
    );
    const { status, headers, bytes } = await get(survey, { count: 'true' });
    expect([status, headers.get('X-Total-Count')]).toEqual([200, '6000']);
    expect(headers.get('Content-Encoding')).toBeNull();
    expect(readWorkbook(bytes)).toEqual(rowsOf(await copyResponses(survey)));
  });

  test('has one sheet with a frozen first row; its cells are text, and those of the first row bold', async () => {
    const survey = await createSurvey(account);
    await addResponses(survey, [{}]);
    const parts = readZip((await get(survey)).bytes);
    const part = (name: string) => parts.get(name)?.toString() ?? '';
    expect(part('xl/workbook.xml').match(/<sheet .*?>/g)).toEqual([
      '<sheet name="responses" sheetId="1" r:id="rId1"/>',
    ]);
    expect(part('xl/worksheets/sheet1.xml')).toContain('<pane ySplit="1" topLeftCell="A2"');
    // Cells without a format have the first one. 49 is the number format "@".
    const formats = /<cellXfs count="2">(.*)<\/cellXfs>/.exec(part('xl/styles.xml'))?.[1]?.match(/<xf .*?>/g) ?? [];
    expect(formats).toEqual([
      expect.stringMatching(/ numFmtId="49"(?!.* fontId="[^0])/) as string,
      expect.stringMatching(/ numFmtId="49" fontId="1"/) as string,
    ]);
    expect(/<fonts .*?<\/fonts>/.exec(part('xl/styles.xml'))?.[0].match(/<font>.*?<\/font>/g)).toEqual([
      expect.not.stringContaining('<b/>') as string,
      expect.stringContaining('<b/>') as string,
    ]);
  });

  test('has columns as wide as their names and the first 500 responses require, from 8 to 60 characters', async () => {
    const survey = await createSurvey(account, undefined, 3);
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
    await addResponses(
      survey,
      Array.from({ length: 600 }, (_, i) => row(i)),
    );
    const long = { flowid: 14, userid: 8, question_text: 60, response: 41, pageid: 60, translated_response: 46 };
    expect(await widthsOf(survey, {})).toMatchObject({ ...long, parent_surveyid: 37, question_idx: 13, ad_id: 8 });
    const wide = { userid: 8, attempts: 9, 'f1.q0': 41, 'f1.q1': 46, started: 25 };
    expect(await widthsOf(survey, { layout: 'wide', value: 'translated' })).toMatchObject(wide);
    expect(await widthsOf(survey, { since: '2030-01-01' })).toMatchObject({ question_text: 14, response: 9, ad_id: 8 });
  });

  test('is only the header if nothing matches, and has no body for HEAD', async () => {
    const survey = await createSurvey(account);
    await addResponses(survey, [{}]);
    const since = { since: '2030-01-01' };
    expect(readWorkbook((await get(survey, since)).bytes)).toEqual(
      rowsOf((await get(survey, since, '/responses/csv')).bytes),
    );
    expect((await get(survey, {}, '/responses/xlsx', 'HEAD')).status).toBe(200);
  });
});

describe('the codebook in a workbook', () => {
  const sheetsOf = (file: Buffer) =>
    [
      ...(readZip(file)
        .get('xl/workbook.xml')
        ?.toString()
        .matchAll(/<sheet name="(.*?)"/g) ?? []),
    ].map(([, name]) => name);

  test('is a second sheet with the table of /responses/questions, for any rows and parameters', async () => {
    const anyParameters: fc.Arbitrary<Parameters> = fc.record(
      {
        layout: fc.constant('wide'),
        columns: fc.constantFrom('form_question', 'question'),
        repeats: fc.constant('drop'),
        shortcode: fc.constant('f0'),
        question_ref: fc.constant(['q1']),
        since: fc.constant('2026-03-01T00:00:00.103Z'),
      },
      { requiredKeys: ['layout'] },
    );
    await fc.assert(
      fc.asyncProperty(anyResponses, anyParameters, async (rows, parameters) => {
        const survey = await createSurvey(account, undefined, 3);
        await addAll(survey, rows);
        const { status, bytes } = await get(survey, { ...parameters, codebook: 'true' });
        expect([status, sheetsOf(bytes)]).toEqual([200, ['responses', 'codebook']]);
        const table = await get(survey, { ...parameters, format: 'csv' }, '/responses/questions');
        expect(readWorkbook(bytes, 2)).toEqual(rowsOf(table.bytes));
        expect(readWorkbook(bytes)).toEqual(rowsOf((await get(survey, parameters, '/responses/csv')).bytes));
      }),
      { numRuns: 8 },
    );
  });

  test('follows the responses, has widths of its own, and is not part of the count', async () => {
    const survey = await createSurvey(account);
    await addResponses(
      survey,
      Array.from({ length: 600 }, () => ({ question_text: 'What? '.repeat(300) })),
    );
    const { bytes, headers } = await get(survey, { codebook: 'true', count: 'true' });
    expect(headers.get('X-Total-Count')).toBe('600');
    expect([...readZip(bytes).keys()].slice(-2)).toEqual(['xl/worksheets/sheet1.xml', 'xl/worksheets/sheet2.xml']);
    expect(readWorkbook(bytes)).toHaveLength(601);
    const table = await get(survey, { format: 'csv' }, '/responses/questions');
    expect(readWorkbook(bytes, 2)).toEqual(rowsOf(table.bytes));
    const widths =
      readZip(bytes)
        .get('xl/worksheets/sheet2.xml')
        ?.toString()
        .matchAll(/ width="(\d+)"/g) ?? [];
    expect(Array.from(widths, ([, width]) => Number(width))).toEqual([8, 10, 13, 13, 60, 10, 13, 28, 28, 8]);
  });

  test('is only its header if nothing matches, and is left out unless requested', async () => {
    const survey = await createSurvey(account);
    await addResponses(survey, [{}]);
    const empty = await get(survey, { since: '2030-01-01', codebook: 'true' });
    expect(readWorkbook(empty.bytes, 2)).toHaveLength(1);
    expect(sheetsOf((await get(survey, { codebook: 'false' })).bytes)).toEqual(['responses']);
    const csv = await get(survey, { codebook: 'true' }, '/responses/csv');
    expect(csv.headers.get('X-Ignored-Parameters')).toBe('codebook');
  });

  test('can be too large, or have a text that is too long, which a workbook without it need not have', async () => {
    const asWide = async (survey: TestSurvey, codebook: string) => {
      const { status, headers, text: body } = await get(survey, { layout: 'wide', codebook });
      return [status, headers.get('X-Error-Code'), status === 200 ? '' : body];
    };
    const survey = await createSurvey(account);
    const old = { question_ref: 'q', timestamp: '2026-03-01T00:00:00Z', question_text: 'x'.repeat(LONGEST + 1) };
    await addResponses(survey, [
      old,
      { ...old, timestamp: '2026-03-01T00:00:01Z', question_text: 'x'.repeat(LONGEST) },
    ]);
    expect(await asWide(survey, 'true')).toEqual([200, null, '']); // it has the latest text

    await addResponses(survey, [
      { ...old, timestamp: '2026-03-01T00:00:02Z', question_text: `${'🎉'.repeat(LONGEST / 2)}xx` },
    ]);
    expect(await asWide(survey, 'true')).toEqual([
      400,
      'export_too_large',
      errorBody(
        'This selection has a codebook with a cell of more than 32767 characters, which an Excel worksheet cannot hold. ' +
          'Narrow it with since, until, shortcode, question_ref or userid, or leave out codebook.',
      ),
    ]);
    expect(await asWide(survey, 'false')).toEqual([200, null, '']);

    const large = await createSurvey(account);
    await addResponses(
      large,
      Array.from({ length: 150 }, () => ({ question_text: 'x'.repeat(30_000) })),
    );
    expect(await asWide(large, 'true')).toEqual([
      400,
      'export_too_large',
      errorBody(
        'This selection has too many questions to return at once. Narrow it with shortcode or question_ref, or leave out codebook.',
      ),
    ]);
    expect(await asWide(large, 'false')).toEqual([200, null, '']);
  });
});

describe('a workbook gets an error', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await createSurvey(account);
    await addResponses(survey, [{}]);
  });

  test.each<[string, Parameters, string]>([
    ['a byte order mark', { bom: 'true' }, 'bom cannot be used with a workbook: leave it out.'],
    [
      'apostrophes',
      { safe: 'true' },
      'safe cannot be used with a workbook, in which nothing runs as a formula: leave it out.',
    ],
    [
      'a token',
      { after: 'any' },
      'after cannot be used with a workbook, which cannot be resumed: use since, or /responses/csv.',
    ],
    [
      'another order',
      { order: 'desc' },
      expect.stringContaining('order=desc is supported only by /responses') as string,
    ],
    ['another value of codebook', { codebook: 'yes' }, 'codebook must be true or false.'],
    [
      'columns of the codebook of a long table',
      { columns: 'question', codebook: 'true' },
      'columns can only be used with layout=wide.',
    ],
    ['parameters of the wide layout', { value: 'translated' }, 'value can only be used with layout=wide.'],
    [
      'a count of wide records',
      { layout: 'wide', count: 'true' },
      'count cannot be used with layout=wide: the number of records is known only at the end.',
    ],
  ])('with %s', async (_, parameters, message) => {
    const { status, headers, text: body } = await get(survey, parameters);
    expect([status, headers.get('X-Error-Code')]).toEqual([400, 'invalid_parameter']);
    expect(JSON.parse(body)).toEqual({ error: { message } });
    expect(headers.get('X-Ignored-Parameters')).toBeNull();
  });
});

describe('a cell of a workbook', () => {
  const withOne = async (row: TestResponse) => {
    const survey = await createSurvey(account);
    await addResponses(survey, [{}, row]);
    return survey;
  };

  test.each<[string, string, string]>([
    ['of one byte', 'a'.repeat(LONGEST), 'a'],
    ['of three bytes', '漢'.repeat(LONGEST), 'a'],
    ['outside the Basic Multilingual Plane', `${'🎉'.repeat((LONGEST - 1) / 2)}a`, 'a'],
  ])('can have 32,767 UTF-16 code units %s, and no more', async (_, longest, more) => {
    const fits = await withOne({ response: longest });
    expect(readWorkbook((await get(fits)).bytes).flat()).toContain(longest);
    const { status, headers, text: body } = await get(await withOne({ response: longest + more }));
    expect([status, headers.get('X-Error-Code'), body]).toEqual([
      400,
      'export_too_large',
      errorBody(
        'This selection has a cell of more than 32767 characters, which an Excel worksheet cannot hold. ' +
          'Narrow it with since, until, shortcode, question_ref or userid, or download it as CSV.',
      ),
    ]);
  });

  const long = 'a'.repeat(LONGEST + 1);
  test.each<[string, TestResponse, number[]]>([
    ['userid', { userid: long }, [400, 400, 400, 400]],
    ['parent_shortcode', { parent_shortcode: long }, [400, 400, 400, 400]],
    ['question_ref', { question_ref: long }, [400, 400, 400, 400]],
    ['question_text', { question_text: long }, [400, 200, 200, 200]],
    ['response', { response: long }, [400, 400, 400, 400]],
    ['response, but translated', { response: long, translated_response: '' }, [400, 400, 200, 400]],
    ['translated_response', { translated_response: long }, [400, 200, 400, 200]],
    ['metadata', { metadata: `{"a": "${long}"}` }, [400, 400, 400, 400]],
    ['pageid', { pageid: long }, [400, 200, 200, 200]],
    ['a label', { question_text: `?\nA. ${long}\nB. b`, response: 'a' }, [400, 200, 200, 400]],
    ['a label that fits', { question_text: `?\nA. ${long.slice(1)}\nB. b`, response: 'A' }, [400, 200, 200, 200]],
    ['a label that is not chosen', { question_text: `?\nA. ${long}\nB. b`, response: 'b' }, [400, 200, 200, 200]],
  ])('can be too long in %s, if the table has it', async (_, row, statuses) => {
    const survey = await withOne(row);
    const layouts: Parameters[] = [
      {},
      { layout: 'wide' },
      ...['translated', 'label'].map((value) => ({ layout: 'wide', value })),
    ];
    const responses = await Promise.all(layouts.map(async (parameters) => get(survey, parameters)));
    expect(responses.map(({ status }) => status)).toEqual(statuses);
  });

  test.each<[string, Parameters]>([
    ['since', { since: '2026-03-02' }],
    ['userid', { userid: 'other' }],
    ['shortcode', { shortcode: 'f1' }],
  ])('can be too long outside a selection by %s', async (_, filter) => {
    const survey = await createSurvey(account, undefined, 3);
    await addResponses(survey, [{ response: long }, { form: 2, userid: 'other', timestamp: '2026-03-02T00:00:00Z' }]);
    expect((await get(survey, filter)).status).toBe(200);
  });

  test('can be too long as the name of a column', async () => {
    const survey = await withOne({ question_ref: 'a'.repeat(LONGEST - 1) });
    expect((await get(survey)).status).toBe(200);
    expect((await get(survey, { layout: 'wide', columns: 'question' })).status).toBe(200);
    expect((await get(survey, { layout: 'wide' })).status).toBe(400);
  });
});

test('the records of a wide table are counted as it has them', async () => {
  const parameters = fc.record(
    {
      repeats: fc.constantFrom('last', 'first', 'drop'),
      require_metadata: fc.constant(['a']),
      shortcode: fc.constant('f0'),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(anyResponses, parameters, async (rows, options) => {
      const survey = await createSurvey(account, undefined, 3);
      await addAll(survey, rows);
      const records = csvRecords((await get(survey, { layout: 'wide', ...options }, '/responses/csv')).bytes);
      const formVersions = survey.forms.filter(({ shortcode }) => (options.shortcode ?? shortcode) === shortcode);
      const counting = render(
        recordsQuery({ survey: { accountId: account.id, name: survey.name }, formVersions }, options).text,
      );
      const found = await withClient(async (client) =>
        client.query({ text: counting.text, values: counting.params, rowMode: 'array' }),
      );
      expect(Number((found.rows as [string][])[0]?.[0])).toBe(records.length - 1);
    }),
    { numRuns: 20 },
  );
});
