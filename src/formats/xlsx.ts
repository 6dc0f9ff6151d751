import type { Database } from '../db/client.ts';
import { countResponses } from '../db/responses.ts';
import { countRecords, hasLongText } from '../db/xlsx-limits.ts';
import { XLSX } from '../http/attachment.ts';
import { cellTooLong, tooManyRecords } from '../http/errors.ts';
import type { Values } from '../http/parameters.ts';
import type { Selection } from '../responses/selection.ts';
import type { ExportFormat, Table } from './file-format.ts';
import { longTable } from './long-table.ts';
import { PARTICIPANT_BYTES, type WideOptions, wideTable } from './wide/table.ts';
import { codebookSheet } from './xlsx/codebook.ts';
import { MAX_CELL_LENGTH, MAX_ROWS } from './xlsx/sheet.ts';
import { sheetOf, workbook } from './xlsx/workbook.ts';

/** The memory that a workbook takes while it is written, besides its table and its codebook. */
const WORKBOOK_BYTES = 1 * 1024 * 1024;
/** The rows of a worksheet without its header. */
const MAX_RECORDS = MAX_ROWS - 1;

type XlsxQuery = WideOptions & Partial<Values<'layout' | 'codebook'>>;

/** An Excel workbook with the table of a CSV file, long or wide, and perhaps the codebook. */
export const xlsx: ExportFormat<XlsxQuery> = {
  type: XLSX,
  memoryBytes: WORKBOOK_BYTES + PARTICIPANT_BYTES,
  async prepare(selection, query, ...database) {
    const isWide = query.layout === 'wide';
    const { records, ...table }: Table = isWide
      ? await wideTable(selection, query, ...database)
      : longTable({ metadata: query.metadata }, true);
    const total = await checkLimits(selection, table, query, ...database);
    const codebook = query.codebook ? [await codebookSheet(selection, query.columns, ...database)] : [];
    return {
      ...table,
      total,
      write(pages, reserveMemory, first) {
        const reserve = (bytes: number) => reserveMemory(bytes + WORKBOOK_BYTES);
        return workbook([{ name: 'responses', data: sheetOf(records, pages, first, reserve) }, ...codebook]);
      },
    };
  },
};

/**
 * Checks that a table fits in a worksheet. A table has at most some 5,000 columns, and a worksheet 16,384.
 *
 * @returns the number of responses
 * @throws ApiError 400 if it does not
 */
async function checkLimits(
  selection: Selection,
  { names, format }: Pick<Table, 'names' | 'format'>,
  query: XlsxQuery,
  db: Database,
  signal: AbortSignal,
): Promise<number> {
  const responses = await countResponses(db, selection, undefined, signal);
  let records = responses;
  // A wide table has at most as many records as responses.
  if (records > MAX_RECORDS && query.layout === 'wide') records = await countRecords(db, selection, query, signal);
  if (records > MAX_RECORDS) throw tooManyRecords(MAX_RECORDS);
  if (
    names.some((name) => name.length > MAX_CELL_LENGTH) ||
    (await hasLongText(db, selection, format.columns, MAX_CELL_LENGTH, signal))
  ) {
    throw cellTooLong(MAX_CELL_LENGTH);
  }
  return responses;
}
