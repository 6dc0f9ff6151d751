import { XLSX } from '../http/attachment.ts';
import type { ExportFormat, Table } from './file-format.ts';
import { longTable } from './long-table.ts';
import { codebookSheet } from './xlsx/codebook.ts';
import { PARTICIPANT_BYTES, type WideOptions, wideTable } from './wide/table.ts';
import { checkSheetLimits } from './xlsx/check-limits.ts';
import { sheetOf, workbook } from './xlsx/workbook.ts';

/** The memory that a workbook takes while it is written, besides its table and its codebook. */
const WORKBOOK_BYTES = 1 * 1024 * 1024;

interface XlsxQuery extends WideOptions {
  readonly layout?: 'long' | 'wide' | undefined;
  readonly codebook?: boolean | undefined;
}

/** An Excel workbook with the table of a CSV file, long or wide, and perhaps the codebook. */
export const xlsx: ExportFormat<XlsxQuery> = {
  type: XLSX,
  memoryBytes: WORKBOOK_BYTES + PARTICIPANT_BYTES,
  async prepare(selection, query, ...database) {
    const isWide = query.layout === 'wide';
    const { records, ...table }: Table = isWide
      ? await wideTable(selection, query, ...database)
      : longTable({ metadata: query.metadata }, true);
    const total = await checkSheetLimits(selection, table, isWide ? query : undefined, ...database);
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
