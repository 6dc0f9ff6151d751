import type { Database } from '../db/client.ts';
import { type Column, countResponses } from '../db/responses.ts';
import { type LeftOut, countRecords, hasLongText } from '../db/xlsx-limits.ts';
import { runScan } from '../export/limits.ts';
import { cellTooLong, tooManyRecords } from '../http/errors.ts';
import type { Selection } from '../responses/selection.ts';
import { MAX_CELL_LENGTH, MAX_ROWS } from './sheet.ts';

/** Besides the header. */
const MAX_RECORDS = MAX_ROWS - 1;

/** A table to be written as a worksheet. */
export interface SheetTable {
  readonly names: readonly string[];
  /** The columns of its responses. */
  readonly columns: readonly Column[];
  /** The participants that a wide table leaves out; undefined for a long table. */
  readonly leftOut: LeftOut | undefined;
}

/**
 * Checks that a table fits in a worksheet. A table has at most some 5,000 columns, and a worksheet 16,384.
 *
 * @returns the number of responses
 * @throws ApiError 400 if it does not; 429 if it cannot be checked because of other scans of the key
 */
export async function checkSheetLimits(
  db: Database,
  keyId: string,
  selection: Selection,
  { names, columns, leftOut }: SheetTable,
  signal: AbortSignal,
): Promise<number> {
  const scan = <T>(query: () => Promise<T>) => runScan(keyId, signal, query);
  const responses = await scan(() => countResponses(db, selection, undefined, signal));
  let records = responses;
  // A wide table has at most as many records as responses.
  if (records > MAX_RECORDS && leftOut) records = await scan(() => countRecords(db, selection, leftOut, signal));
  if (records > MAX_RECORDS) throw tooManyRecords(MAX_RECORDS);
  if (
    names.some((name) => name.length > MAX_CELL_LENGTH) ||
    (await scan(() => hasLongText(db, selection, columns, MAX_CELL_LENGTH, signal)))
  ) {
    throw cellTooLong(MAX_CELL_LENGTH);
  }
  return responses;
}
