import type { Database, HeldPage } from '../../db/client.ts';
import { CODEBOOK_COLUMNS, CODEBOOK_OPTIONS, codebookQuery } from '../../db/codebook.ts';
import { csvEncoder } from '../../encode/csv.ts';
import { codebookCellTooLong, ifTooLarge, tooManyRows } from '../../http/errors.ts';
import type { Selection } from '../../responses/selection.ts';
import { recordsOfRows } from '../long-table.ts';
import { MAX_CELL_LENGTH } from './sheet.ts';
import { cellLength } from './measure.ts';
import { type Sheet, sheetOf } from './workbook.ts';

const encode = csvEncoder({ columns: CODEBOOK_COLUMNS.length, keyColumns: [], cells: true });
const tooLarge = () => tooManyRows('questions', 'shortcode or question_ref, or leave out codebook');

/**
 * Reads the codebook of a selection for a worksheet. It is held in memory until it has been written.
 *
 * @throws ApiError 400 if it does not fit in memory or in a worksheet
 */
export async function codebookSheet(
  selection: Selection,
  columns: 'form_question' | 'question' | undefined,
  db: Database,
  signal: AbortSignal,
): Promise<Sheet> {
  const reading = db.page(codebookQuery(selection, columns), { ...CODEBOOK_OPTIONS, signal }, encode);
  const page = await reading.catch(ifTooLarge(tooLarge));
  for (let cell = 0; cell + 1 < page.cells.length; cell++) {
    if (cellLength(page, cell) > MAX_CELL_LENGTH) throw codebookCellTooLong(MAX_CELL_LENGTH);
  }
  return { name: 'codebook', data: write(page) };
}

async function* write(page: HeldPage): AsyncGenerator<Uint8Array, void, void> {
  yield* sheetOf(recordsOfRows(CODEBOOK_COLUMNS), [page], page, async () => {});
  page.release();
}
