import assert from 'node:assert/strict';
import { AWKWARD, awkwardText } from './awkward-text.ts';
import { csvRecords } from './csv.ts';
import type { TestResponse } from './data.ts';
import { randomFrom } from './random.ts';

/*
 * Workbooks that are hard to read, and what a program should read in them: the cells of the CSV
 * files.
 */

export const SURVEY = 'Hard to read & “é”';

/** Parameters of the workbooks' tables, and of their codebooks. */
export const LAYOUTS = {
  long: { table: { metadata: 'note' }, codebook: {} },
  wide: { table: { layout: 'wide', columns: 'question' }, codebook: { columns: 'question' } },
} as const;

/** Texts that programs trim, convert, decode, or fail to read. */
const TEXTS = [
  ...AWKWARD,
  '_x0041_',
  '_x0041',
  '_x005F_',
  '_x0041_\u0001_x000a_',
  '_x00G1_',
  '\ufffe\uffff',
  'a\u0001\u001fb',
  '\ufffd',
  ' a',
  'a ',
  '  a  ',
  '\ta',
  'a\n',
  '\na',
  'a\r',
  '\ra',
  'a\r\nb\rc',
  '\r\n',
  '\u2028a',
  'a\u2003',
  '\u200b',
  '\u00a0a',
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '0012',
  '2000921492222520',
  '12345678901234567890',
  '1e5',
  '0.10',
  '2026-03-01',
  'TRUE',
  'false',
  '#N/A',
  'NA',
  'null',
  'None',
  '',
  '"',
  "'a",
  '<a> & ]]>',
  '&amp;',
  '&lt;b&gt;',
  '&#13;',
  '<![CDATA[x]]>',
  'x'.repeat(32_767),
  '🎉'.repeat(16_383),
];

/** Wide files have columns beyond ZZ. */
const QUESTIONS = 720;
const USERIDS = ['0012', '2000921492222520', '=1+1', ' 7 '];

const shortened = (text: string) => Array.from(text).slice(0, 50).join('');

/** The responses of the survey. Their metadata has numbers that JavaScript cannot represent. */
export function hardResponses(): TestResponse[] {
  const random = randomFrom(1);
  const texts = [...TEXTS, ...Array.from({ length: QUESTIONS }, () => awkwardText(random))];
  const text = (i: number) => texts[i % texts.length] as string;
  return USERIDS.flatMap((userid, user) =>
    Array.from({ length: QUESTIONS }, (_, i) => ({
      ...(i % 2 === 0 ? { parent: null } : {}),
      parent_shortcode: '',
      userid,
      question_ref: i < 100 ? `q${i}` : `${i} ${shortened(text(i))}`,
      question_idx: i,
      question_text: text(i),
      response: text(i + 7 * user),
      timestamp: `2026-03-01T00:00:00.${String(1000 * user + i).padStart(6, '0')}Z`,
      metadata: `{"note": ${JSON.stringify(shortened(text(i)))}, "page": 123456789012345678, "ratio": 0.10}`,
      pageid: i % 3 === 0 ? '' : null,
      translated_response: i % 3 === 0 ? null : text(i + 1),
    })),
  );
}

export const NUMBERS_SURVEY = 'Numbers and texts';
export const NUMBERS_TABLE = {
  layout: 'wide',
  columns: 'question',
  metadata: 'seed',
  numbers: 'true',
} as const;

/**
 * The answers of four participants to questions of numbers, and to others with a text that is none.
 */
const NUMBERS = [
  ['0', '-2', '123456789012345', ''],
  ['0.10', '-0.5', '12345678901234.5', '7'],
];
const NO_NUMBERS = [
  '007',
  '1234567890123456',
  '1e5',
  '+1',
  '.5',
  '1.',
  ' 1',
  '1\n',
  '1,5',
  '٣',
  'NaN',
  '=1+1',
];
const ANSWERS = [...NUMBERS, ...NO_NUMBERS.map((text) => ['1', text, '-1', ''])];

/** The responses of participants whose ids and metadata could be numbers. */
export const numberResponses = (): TestResponse[] =>
  ANSWERS.flatMap((answers, question_idx) =>
    answers.map((response, user) => ({
      userid: String(user + 1),
      question_ref: `q${question_idx}`,
      question_idx,
      response,
      metadata: '{"seed": 7}',
      timestamp: `2026-03-01T00:00:0${user}Z`,
    })),
  );

/** Checks what a program reads in a workbook with {@link NUMBERS_TABLE}. */
export function expectNumbers([names = [], ...rows]: Rows): void {
  const expected = {
    userid: ['1', '2', '3', '4'],
    attempts: Array<string>(4).fill('1'),
    'metadata.seed': Array<string>(4).fill('7'),
    ...Object.fromEntries(
      ANSWERS.map((answers, i) => [
        `q${i}`,
        answers.map((text) => (i < NUMBERS.length && text ? Number(text) : text)),
      ]),
    ),
  };

  for (const [name, cells] of Object.entries(expected)) {
    const column = names.indexOf(name);
    assert.deepEqual(
      rows.map((row) => row[column] ?? ''),
      cells,
      name,
    );
  }
}

export type Rows = readonly (readonly (string | number | null)[])[];
/** The rows of a workbook's sheets, by name. */
export type Sheets = Readonly<Record<string, Rows>>;

/**
 * Checks that a program reads the cells of the CSV files. It may return an empty cell as an empty
 * text, or leave it out.
 */
export function expectSheets(
  found: Sheets,
  expected: { readonly responses: Buffer; readonly codebook: Buffer },
): void {
  assert.deepEqual(Object.keys(found), ['responses', 'codebook']);
  for (const name of ['responses', 'codebook'] as const) {
    const records = csvRecords(expected[name]);
    const rows = found[name] ?? [];
    assert.equal(rows.length, records.length, `rows of ${name}`);
    for (const [i, record] of records.entries()) {
      const cells = record.map((cell) => cell || null);
      const row = cells.map((_, column) => rows[i]?.[column] || null);
      assert.deepEqual(row, cells, `row ${i + 1} of ${name}`);
    }
  }
}

/**
 * Decodes the escapes of a program that does not. @param codes those that it does not decode, in
 * hexadecimal
 */
export const decoded = (text: string, codes = /[\da-f]{4}/i): string =>
  text.replaceAll(new RegExp(`_x(${codes.source})_`, 'gi'), (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
