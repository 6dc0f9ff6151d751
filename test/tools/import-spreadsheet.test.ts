import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ImportOptions } from '../../tools/import/import-files.ts';
import type { ImportSummary } from '../../tools/import/summary.ts';
import { type FileRow, csvOf, formRow, responseRow, secondFormId } from '../support/export-files.ts';
import { type Files, loadFiles } from '../support/load-files.ts';
import { type RunningDatabase, dump, query, startDatabase } from '../support/database.ts';

/** Rows of one participant each, with these ids. */
const withIds = (...ids: string[]): FileRow[] => ids.map((userid) => responseRow({ userid }));
/** The same with other values as well. */
const withIdsAnd = (values: FileRow, ...ids: string[]): FileRow[] =>
  ids.map((userid) => responseRow({ userid, ...values }));
/** Rows that differ in these texts. */
const withTexts = (...texts: string[]): FileRow[] =>
  texts.map((response, index) => responseRow({ response, userid: `${index}` }));
const many = <T>(count: number, value: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => value(index));

const rounded = many(6, (index) => `20009214922225${index}0`);
const escaped = many(6, (index) => `'=1+${index}`);
/** Another response of another participant. */
const other: FileRow = { timestamp: '2026-03-02T00:00:00Z', flowid: '1600000001841', question_ref: 'food' };

/** How many of the file's rows are not stored under their own key. */
function newOf(stored: FileRow[], rows: FileRow[]): number {
  const keyOf = (row: FileRow): string =>
    JSON.stringify(['surveyid', 'timestamp', 'userid', 'question_ref'].map((name) => row[name]));
  const keys = new Set(stored.map(keyOf));
  return rows.filter((row) => !keys.has(keyOf(row))).length;
}

const ROUNDED = 'so a spreadsheet has probably rounded it: export the file again, and import it without saving it';
const NUMBER = 'so a spreadsheet has probably read it as a number: export the file again';
const SAFE = 'so the file was probably exported with safe=true: export it again without safe=true';

describe('import', () => {
  let running: RunningDatabase;
  let folder: string;

  beforeAll(async () => {
    running = await startDatabase();
    folder = await mkdtemp(join(tmpdir(), 'test-import-'));
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => query(running.url, 'truncate users cascade'));

  const load = (files: Files, options?: ImportOptions): Promise<ImportSummary> =>
    loadFiles(running.url, folder, files, options);
  /** Loads rows that are undamaged, or cannot be recognised as damaged. */
  const store = (rows: FileRow[]): Promise<unknown> =>
    rows.length === 0
      ? load({ responses: `${csvOf(withIds('1')).split('\n')[0]}\n` })
      : load({ responses: csvOf(rows) });

  describe('refuses, unless it is --as-is,', () => {
    /** Title, stored rows, the file's rows, line and message. */
    test.each<[string, FileRow[], FileRow[], string]>([
      [
        'a stored id whose last digits are zeros',
        withIds('2000921492222527', '2000921492222533'),
        withIds('2000921492222533', '2000921492222520'),
        `line 3: userid: "2000921492222520" is stored as "2000921492222527", ${ROUNDED}`,
      ],
      [
        'a stored id without its leading zeros',
        withIds('0712345678'),
        withIds('712345678'),
        `line 2: userid: "712345678" is stored as "0712345678", ${NUMBER}`,
      ],
      ['a stored id of zeros', withIds('000'), withIds('0'), `line 2: userid: "0" is stored as "000", ${NUMBER}`],
      [
        'a stored id without its plus sign',
        withIds('+254712345678'),
        withIds('254712345678'),
        `line 2: userid: "254712345678" is stored as "+254712345678", ${NUMBER}`,
      ],
      [
        'a stored id without leading zeros, among new and changed responses',
        withIds('007', '8'),
        [
          responseRow({ userid: '8', response: 'Better' }),
          responseRow({ ...other, userid: '7' }),
          ...withIds('7', '9'),
        ],
        `line 4: userid: "7" is stored as "007", ${NUMBER}`,
      ],
      [
        'six ids of 16 or more digits, all rounded',
        [],
        withIds('12', ...rounded.slice(0, 5), '935593143497601000'),
        `line 3: userid: "2000921492222500": like every other id of 16 or more digits in this file, it ends in zeros`,
      ],
      [
        'rounded ids of new participants, if the stored ids are not rounded',
        withIds('2000921492222527'),
        withIdsAnd(other, ...rounded),
        'line 2: userid: "2000921492222500": like every other id',
      ],
      [
        'rounded ids of new participants, if not all stored ids are rounded',
        withIds(...rounded, '2000921492222527'),
        withIdsAnd(other, ...many(6, (index) => `20009214922226${index}0`)),
        'line 2: userid: "2000921492222600": like every other id',
      ],
      ...(
        [
          ['response', '2000921492222527', '2000921492222520', ROUNDED],
          ['response', '935593143497601623', '935593143497602000', ROUNDED],
          ['response', '0712345678', '712345678', NUMBER],
          ['response', '+254712345678', '254712345678', NUMBER],
          ['response', '254712345678', '2.54712E+11', ROUNDED],
          ['response', '250000000000', '2.5E+11', ROUNDED],
          ['response', '=1+1', "'=1+1", SAFE],
          ['response', '-3', "'-3", SAFE],
          ['response', 'x;=1+1', "x;'=1+1", SAFE],
          ['translated_response', '+254712345678', "'+254712345678", SAFE],
          ['question_text', 'Where?\n-A. North\n-B. South', "Where?\n'-A. North\n'-B. South", SAFE],
          ['pageid', '935593143497601123', '935593143497601000', ROUNDED],
          ['pageid', '@page', "'@page", SAFE],
          ['parent_shortcode', '007', '7', NUMBER],
          ['flowid', '1772323417086123', '1772323417086120', ROUNDED],
        ] as const
      ).map(([name, original, value, cause]): [string, FileRow[], FileRow[], string] => [
        `a stored ${name} ${JSON.stringify(original)} that became ${JSON.stringify(value)}`,
        [responseRow({ [name]: original })],
        [responseRow({ [name]: value })],
        `line 2: ${name}: ${JSON.stringify(value)} is stored as ${JSON.stringify(original)}, ${cause}`,
      ]),
      [
        'an ad_id that is the rounded one of the metadata',
        [],
        [responseRow({ ad_id: '23848585167320400', metadata: '{"ad_id": 23848585167320457}' })],
        `line 2: ad_id: "23848585167320400" is not the ad_id of the metadata, "23848585167320457", ${ROUNDED}`,
      ],
      [
        'an ad_id with an apostrophe that the metadata does not have',
        [],
        [responseRow({ ad_id: "'=1", metadata: '{"ad_id": "=1"}' })],
        `line 2: ad_id: "'=1" is not the ad_id of the metadata, "=1", ${SAFE}`,
      ],
      [
        'six texts that could run as formulas, all with apostrophes',
        [],
        withTexts("'tis", ...escaped),
        `line 3: response: "'=1+0": like every other text in this file that could run as a formula`,
      ],
      [
        'an id that became 2.00092E+15',
        [],
        withIds('2.00092E+15'),
        'line 2: userid: "2.00092E+15" is a long number that a spreadsheet has rounded: export the file again',
      ],
    ])('%s', async (_, stored, rows, message) => {
      await store(stored);
      const before = await dump(running.url);
      const files = { responses: csvOf(rows) };
      await expect(load(files)).rejects.toThrow(message);
      await expect(load(files)).rejects.toThrow(/ \(--as-is imports it all the same\)$/);
      expect(await dump(running.url)).toEqual(before);
      expect(await load(files, { asIs: true })).toMatchObject({ responses: { new: newOf(stored, rows) } });
      expect(await load(files, { asIs: true })).toMatchObject({ responses: { unchanged: rows.length } });
    });

    test('but not an ad_id that no spreadsheet explains', async () => {
      const responses = csvOf([responseRow({ ad_id: '2385' })]);
      await expect(load({ responses }, { asIs: true })).rejects.toThrow(
        'ad_id: "2385" is not the ad_id of the metadata',
      );
    });

    test('a stored shortcode without its leading zeros', async () => {
      await load({ forms: csvOf([formRow({ shortcode: '007' })]) });
      const files = { forms: csvOf([formRow({ shortcode: '7' })]) };
      await expect(load(files)).rejects.toThrow(`line 2: shortcode: "7" is stored as "007", ${NUMBER}`);
      expect(await load(files, { asIs: true })).toMatchObject({ forms: { changed: 1 } });
    });
  });

  describe('loads what a platform could hold:', () => {
    test.each<[string, FileRow[], FileRow[]]>([
      ['an id that ends in a zero', [], withIds('2000921492222520')],
      [
        'one id that ends in a zero, with many responses',
        [],
        many(9, (index) => responseRow({ userid: '2000921492222520', question_ref: `${index}` })),
      ],
      ['five ids of 16 digits, all ending in a zero', [], withIds(...rounded.slice(1))],
      ['many ids ending in a zero, and one that does not', [], withIds(...rounded, '2000921492222527')],
      ['an id of 17 digits with one zero at its end', [], withIds(...rounded, '20009214922225270')],
      ['many ids of 15 digits, all ending in a zero', [], withIds(...many(9, (index) => `20009214922225${index}`))],
      ['ids of all lengths without leading zeros', [], withIds(...many(20, (index) => '1'.repeat(index + 1)))],
      ['ids with and without leading zeros', withIds('007'), withIds('7', '07', '007')],
      [
        'ids that differ from a stored one in their last digit',
        withIds('2000921492222527'),
        withIds('2000921492222529'),
      ],
      [
        'a participant whose id is like a rounded one, together with the other',
        withIds('2000921492222527'),
        withIds('2000921492222520', '2000921492222527'),
      ],
      [
        'new responses of a stored participant whose id is like a rounded one',
        [...withIds('2000921492222520', '2000921492222527'), responseRow({ ...other, userid: '2000921492222527' })],
        [responseRow({ ...other, userid: '2000921492222520' })],
      ],
      [
        'responses to the same question at another time',
        withIds('2000921492222527', '8'),
        withIdsAnd({ timestamp: '2026-03-01T00:03:43.770048Z' }, '2000921492222520', '8'),
      ],
      [
        'a response at the same time in another conversation',
        withIds('2000921492222527', '007'),
        withIdsAnd({ flowid: '1600000001841' }, '2000921492222520', '7'),
      ],
      [
        'responses at the same time to another form version',
        withIds('007', '8'),
        withIdsAnd({ surveyid: secondFormId }, '7', '8'),
      ],
      ['an answer that begins with an apostrophe', [], withTexts("'tis", "'=", "'=1+1", "'s Gravenhage", "'")],
      ['formulas with and without an apostrophe', [], withTexts(...escaped, '=1+1')],
      ['many answers in quotation marks', [], withTexts(...many(9, (index) => `'${index}'`))],
      ['an answer of 2.5E+11', [], withTexts('2.5E+11')],
      ['an answer that was corrected', withTexts('0712345678'), withTexts('0712345679')],
      ['an answer that was corrected to a round number', withTexts('2000921492222527'), withTexts('2000921492222500')],
      ['an answer that lost its first digit', withTexts('1712345678'), withTexts('712345678')],
      ['an answer that gained an apostrophe', withTexts('tis'), withTexts("'tis")],
      ['an answer that gained a leading zero', withTexts('712345678'), withTexts('0712345678')],
      ['a number of a million digits', withTexts('1'.repeat(1_000_000)), withTexts('2'.repeat(1_000_000))],
    ])('%s', async (_, stored, rows) => {
      const forms = csvOf([
        formRow(),
        formRow({ surveyid: secondFormId, version: '2', survey_created: '2026-02-01T00:00:00.000Z' }),
      ]);
      await store(stored);
      const files = { forms, responses: csvOf(rows) };
      expect(await load(files)).toMatchObject({ responses: { new: newOf(stored, rows) } });
      expect(await load(files)).toMatchObject({ responses: { unchanged: rows.length } });
    });

    test.each([
      ['ids', withIds(...rounded), withIds(...many(6, (index) => `20009214922226${index}0`))],
      [
        'texts',
        withTexts(...escaped),
        many(6, (index) => responseRow({ userid: `new ${index}`, response: `'=2+${index}` })),
      ],
    ])('%s that look damaged, if all stored ones do', async (_, stored, rows) => {
      await load({ responses: csvOf(stored) }, { asIs: true });
      expect(await load({ responses: csvOf(rows) })).toMatchObject({ responses: { new: 6 } });
    });
  });
});
