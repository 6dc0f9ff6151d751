import { countQuery } from '../db/branches.ts';
import type { ProvenPage } from '../db/client.ts';
import type { Database } from '../db/database.ts';
import { CODEBOOK_COLUMNS, QUESTIONS_OPTIONS, codebookQuery } from '../db/codebook.ts';
import type { Question } from '../db/questions.ts';
import { ANSWERS, readCount } from '../db/responses.ts';
import { findNumbers, recordsQuery } from '../db/xlsx-limits.ts';
import { csvEncoder } from '../encode/csv.ts';
import { XLSX } from '../http/attachment.ts';
import { ifTooMany, notInWorksheet } from '../http/errors.ts';
import type { Selection } from '../responses/selection.ts';
import type { ExportFormat, FileQuery, Table } from './file-format.ts';
import { longTable, recordsOfRows } from './long-table.ts';
import { wideTable } from './wide/table.ts';
import { LONG_CELL, MANY_RECORDS, MAX_CELL_LENGTH, MAX_RECORDS } from './xlsx/sheet.ts';
import { cellLength } from './xlsx/measure.ts';
import { sheetOf, workbook } from './xlsx/workbook.ts';
import type { ZipEntry } from './xlsx/zip.ts';

/** An Excel workbook with the table of a CSV file, long or wide, and perhaps the codebook. */
export const xlsx: ExportFormat = {
  type: XLSX,
  async prepare(selection, query, db, holdRecord) {
    const isWide = query.layout === 'wide';
    const table = isWide
      ? await wideTable(selection, query, db, holdRecord)
      : longTable(query, true);
    const { total, numbers } = await checkLimits(selection, table, query, db);
    const codebook = query.codebook ? [await codebookSheet(selection, query, db)] : [];

    return {
      ...table,
      total,
      write(pages, first) {
        const data = sheetOf(table, pages, first, numbers);
        const responses = { name: 'responses', data };
        return workbook([responses, ...codebook], numbers.size > 0);
      },
    };
  },
};

/**
 * Checks that a table fits in a worksheet, in which 16,384 columns fit: a table has some 5,000 at
 * most.
 *
 * @returns the number of responses, and, if they are requested, the names of the columns of numbers
 * @throws ApiError 400 if it does not
 */
async function checkLimits(
  selection: Selection,
  { format, questions = [] }: Table,
  query: FileQuery,
  db: Database,
) {
  const total = await readCount(db, countQuery(selection));
  let records = total;
  // A wide table has at most as many records as responses.
  if (records > MAX_RECORDS && query.layout === 'wide')
    records = await readCount(db, recordsQuery(selection, query), 'scan');
  if (records > MAX_RECORDS) throw notInWorksheet(MANY_RECORDS);

  const answer = query.numbers ? ANSWERS[query.value ?? 'response'] : undefined;
  const areNumbers = await findNumbers(db, selection, format.columns, MAX_CELL_LENGTH, answer);
  if (!areNumbers) throw notInWorksheet(LONG_CELL);

  const isText = ({ shortcode, questionRef }: Question) =>
    !areNumbers.has(JSON.stringify([shortcode, questionRef]));
  const columnsOf = (some: readonly Question[]) => new Set(some.map(({ column }) => column));
  const numbers = columnsOf(questions).difference(columnsOf(questions.filter(isText)));
  return { total, numbers };
}

/**
 * Reads the codebook of a selection for a worksheet. Memory holds it until it has been written.
 *
 * @throws ApiError 400 if it does not fit in memory or in a worksheet
 */
async function codebookSheet(
  selection: Selection,
  { columns }: FileQuery,
  db: Database,
): Promise<ZipEntry> {
  const encode = csvEncoder({ columns: CODEBOOK_COLUMNS.length, cells: true });
  const reading = db.page(codebookQuery(selection, columns), QUESTIONS_OPTIONS, encode);
  const page = await reading.catch(
    ifTooMany('questions', 'shortcode or question_ref, or leave out codebook'),
  );

  for (let cell = 0; cell + 1 < page.cells.length; cell++) {
    if (cellLength(page, cell) > MAX_CELL_LENGTH)
      throw notInWorksheet(`a codebook with ${LONG_CELL}`, 'leave out codebook');
  }
  return { name: 'codebook', data: writeCodebook(page) };
}

async function* writeCodebook(page: ProvenPage) {
  const table = { names: CODEBOOK_COLUMNS, records: recordsOfRows(CODEBOOK_COLUMNS.length) };
  yield* sheetOf(table, [page], page);
  page.release();
}
