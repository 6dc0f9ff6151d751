import type { ResponsesBody, Table } from '../export/send-responses.ts';
import { SheetWriter } from './sheet.ts';
import { workbook } from './workbook.ts';

/** The memory that a workbook takes while it is written, besides its table. */
const WORKBOOK_BYTES = 2 * 1024 * 1024;

/** An Excel workbook with a table of responses. */
export const xlsxBody =
  ({ records }: Table): ResponsesBody['body'] =>
  (pages, hold) => {
    hold(WORKBOOK_BYTES);
    return workbook(records(new SheetWriter(), pages, (bytes) => hold(bytes + WORKBOOK_BYTES)));
  };
