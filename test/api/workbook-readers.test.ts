import ExcelJS from 'exceljs';
import readExcelFile from 'read-excel-file/node';
import { beforeAll, describe, expect, test } from 'vitest';
import * as SheetJS from 'xlsx';
import { createAccount, storeSurvey } from '../support/data.ts';
import {
  LAYOUTS,
  NUMBERS_SURVEY,
  NUMBERS_TABLE,
  type Rows,
  SURVEY,
  type Sheets,
  decoded,
  expectNumbers,
  expectSheets,
  hardResponses,
  numberResponses,
} from '../support/hard-workbook.ts';
import { get } from './requests.ts';

/*
 * Programs that read workbooks, as npm installs them. `npm run recipes` does the same with
 * Python's.
 */

/** How a program reads a workbook. */
type Read = (file: Buffer) => Promise<Sheets>;

const readers: Readonly<Record<string, Read>> = {
  /** It does not decode escapes. */
  async ExcelJS(file) {
    const rowsOf = (sheet: ExcelJS.Worksheet): Rows =>
      Array.from({ length: sheet.rowCount }, (_, row) =>
        Array.from({ length: sheet.columnCount }, (__, column) => {
          const { value } = sheet.getCell(row + 1, column + 1);
          return typeof value === 'string' ? decoded(value) : (value as null);
        }),
      );
    return Object.fromEntries(
      (await excelJs(file)).worksheets.map((sheet) => [sheet.name, rowsOf(sheet)]),
    );
  },

  async 'read-excel-file'(file) {
    const sheets = await readExcelFile(file, { trim: false });
    return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data as Rows]));
  },

  async SheetJS(file) {
    const rowsOf = (sheet: SheetJS.WorkSheet) =>
      SheetJS.utils.sheet_to_json<Rows[number]>(sheet, {
        header: 1,
        raw: true,
        defval: null,
        blankrows: true,
      });
    const { Sheets: sheets } = SheetJS.read(file);
    return Object.fromEntries(Object.entries(sheets).map(([name, sheet]) => [name, rowsOf(sheet)]));
  },
};

async function excelJs(file: Buffer): Promise<ExcelJS.Workbook> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(file as unknown as ExcelJS.Buffer);
  return workbook;
}

const account = await createAccount();
const survey = await storeSurvey(hardResponses(), { account, name: SURVEY });
const ofNumbers = await storeSurvey(numberResponses(), { account, name: NUMBERS_SURVEY });

const download = async (
  path: string,
  parameters: Readonly<Record<string, string>>,
  from = survey,
) => {
  const { status, bytes } = await get(path, from, parameters);
  expect(status).toBe(200);
  return bytes;
};

describe.each(Object.entries(LAYOUTS))(
  'a workbook with the %s table and the codebook',
  (_, { table, codebook }) => {
    let file: Buffer;
    let expected: { responses: Buffer; codebook: Buffer };
    beforeAll(async () => {
      file = await download('/responses/xlsx', { ...table, codebook: 'true' });
      expected = {
        responses: await download('/responses/csv', table),
        codebook: await download('/responses/questions', { ...codebook, format: 'csv' }),
      };
    });

    test.each(Object.entries(readers))(
      'has the cells of the CSV files for %s',
      async (__, read) => {
        expectSheets(await read(file), expected);
      },
    );
  },
);

test.each(Object.entries(readers))(
  'has numbers, ids and texts with numbers=true for %s',
  async (_, read) => {
    const { responses } = await read(await download('/responses/xlsx', NUMBERS_TABLE, ofNumbers));
    expectNumbers(responses ?? []);
  },
);
