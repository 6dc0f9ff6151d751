import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LAYOUTS, SURVEY, type Sheets, decoded, expectSheets, surveyFiles } from '../../support/hard-workbook.ts';
import { type Check, expectSuccess } from './expect.ts';

/** The escapes that a library does not decode. */
const UNDECODED: Readonly<Record<string, RegExp | undefined>> = {
  openpyxl: /[\da-f]{4}/i,
  pandas: /[\da-f]{4}/i, // with openpyxl
  xlsx2csv: /[\da-f]{4}/i,
  calamine: /FFF[EF]/,
};

/** Reads workbooks with libraries of Python. Those of npm are in test/api/workbook-readers.test.ts. */
export const workbookChecks: Readonly<Record<string, Check>> = {
  async '../test/recipes/read_workbooks.py'(trial) {
    await trial.importFiles(surveyFiles());
    const folder = await trial.folder();
    const get = async (path: string, parameters: Record<string, string>) =>
      (await trial.get(path, { survey: SURVEY, ...parameters })).body;
    for (const [name, { table }] of Object.entries(LAYOUTS))
      await writeFile(join(folder, `${name}.xlsx`), await get('/responses/xlsx', { ...table, codebook: 'true' }));

    const finished = await trial.run(folder);
    expectSuccess(finished);
    const found = JSON.parse(finished.stdout) as Record<string, Record<string, Sheets>>;
    for (const [name, { table, codebook }] of Object.entries(LAYOUTS)) {
      const expected = {
        responses: await get('/responses/csv', table),
        codebook: await get('/responses/questions', { ...codebook, format: 'csv' }),
      };
      for (const [library, codes] of Object.entries(UNDECODED)) {
        const sheets = Object.entries(found[library]?.[`${name}.xlsx`] ?? {}).map(([sheet, rows]) => [
          sheet,
          rows.map((row) => row.map((text) => text && decoded(text, codes))),
        ]);
        try {
          expectSheets(Object.fromEntries(sheets) as Sheets, expected);
        } catch (error) {
          throw new Error(`${library}, ${name}: ${(error as Error).message}`, { cause: error });
        }
      }
    }
    return `${Object.keys(UNDECODED).join(', ')} read every cell`;
  },
};
