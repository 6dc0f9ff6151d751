import type { Database } from '../../db/client.ts';
import { countResponses } from '../../db/responses.ts';
import type { LeftOutOptions } from '../../db/left-out.ts';
import { countRecords, hasLongText } from '../../db/xlsx-limits.ts';
import { cellTooLong, tooManyRecords } from '../../http/errors.ts';
import type { Selection } from '../../responses/selection.ts';
import type { Table } from '../file-format.ts';
import { MAX_CELL_LENGTH, MAX_ROWS } from './sheet.ts';

/** The rows of a worksheet without its header. */
const MAX_RECORDS = MAX_ROWS - 1;

/**
 * Checks that a table fits in a worksheet. A table has at most some 5,000 columns, and a worksheet 16,384.
 *
 * @param leftOut the participants that a wide table leaves out; undefined for a long table
 * @returns the number of responses
 * @throws ApiError 400 if it does not
 */
export async function checkSheetLimits(
  selection: Selection,
  { names, format }: Pick<Table, 'names' | 'format'>,
  leftOut: LeftOutOptions | undefined,
  db: Database,
  signal: AbortSignal,
): Promise<number> {
  const responses = await countResponses(db, selection, undefined, signal);
  let records = responses;
  // A wide table has at most as many records as responses.
  if (records > MAX_RECORDS && leftOut) records = await countRecords(db, selection, leftOut, signal);
  if (records > MAX_RECORDS) throw tooManyRecords(MAX_RECORDS);
  if (
    names.some((name) => name.length > MAX_CELL_LENGTH) ||
    (await hasLongText(db, selection, format.columns, MAX_CELL_LENGTH, signal))
  ) {
    throw cellTooLong(MAX_CELL_LENGTH);
  }
  return responses;
}
