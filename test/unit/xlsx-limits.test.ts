import { expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { render } from '../../src/db/sql.ts';
import { xlsx } from '../../src/formats/xlsx.ts';
import { MAX_ROWS, SheetWriter } from '../../src/formats/xlsx/sheet.ts';
import { ApiError } from '../../src/http/errors.ts';

/**
 * Checks the limits for a selection with so many responses, and records. @returns the error's code,
 * if there is one
 */
async function errorFor(responses: number, records?: number): Promise<string | undefined> {
  const counts = [responses, records];
  const isCount = (text: string) =>
    text.includes('sum(count)') || text.includes('select count(*)::text\n    from');
  const db: Pick<Database, 'rows'> = {
    rows: ({ text }) =>
      Promise.resolve(isCount(render(text).text) ? [[String(counts.shift())]] : []),
  };
  try {
    await xlsx.prepare(
      { survey: { accountId: '', name: '', limits: null }, formVersions: [] },
      { layout: records === undefined ? 'long' : 'wide' },
      db as Database,
      async () => {},
    );
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test('a workbook can have 1,048,575 records; one with a wide table, more responses', async () => {
  expect(await errorFor(1_048_575)).toBeUndefined();
  expect(await errorFor(1_048_576)).toBe('export_too_large');
  expect(await errorFor(5_000_000, 1_048_575)).toBeUndefined();
  expect(await errorFor(5_000_000, 1_048_576)).toBe('export_too_large');
});

test('a worksheet has up to 1,048,576 rows', () => {
  const sheet = new SheetWriter();
  for (let rows = 0; rows < MAX_ROWS; rows += 1024) {
    for (let i = 0; i < 1024; i++) sheet.endRecord();
    sheet.output.take();
  }
  expect(() => sheet.endRecord()).toThrow(ApiError);
});
