import { countQuery } from '../db/branches.ts';
import type { ProvenPage } from '../db/client.ts';
import type { Database } from '../db/database.ts';
import { CODEBOOK_COLUMNS, QUESTIONS_OPTIONS, codebookQuery } from '../db/codebook.ts';
import type { ColumnsBy, Question } from '../db/questions.ts';
import { ANSWERS, readCount } from '../db/responses.ts';
import { findNumbers, recordsQuery } from '../db/xlsx-limits.ts';
import { csvEncoder } from '../encode/csv.ts';
import { XLSX } from '../http/attachment.ts';
import { cellTooLong, codebookCellTooLong, ifTooMany, tooManyRecords } from '../http/errors.ts';
import type { Values } from '../http/parameters.ts';
import type { Selection } from '../responses/selection.ts';
import type { ExportFormat, Table } from './file-format.ts';
import { longTable, recordsOfRows } from './long-table.ts';
import { type WideOptions, wideTable } from './wide/table.ts';
import { MAX_CELL_LENGTH, MAX_ROWS } from './xlsx/sheet.ts';
import { cellLength } from './xlsx/measure.ts';
import { type Sheet, sheetOf, workbook } from './xlsx/workbook.ts';

/** The rows of a worksheet without its header. */
const MAX_RECORDS = MAX_ROWS - 1;

type XlsxQuery = WideOptions & Partial<Values<'layout' | 'codebook' | 'numbers' | 'omit'>>;

/** An Excel workbook with the table of a CSV file, long or wide, and perhaps the codebook. */
export const xlsx: ExportFormat<XlsxQuery> = {
  type: XLSX,
  async prepare(selection, query, db) {
    const isWide = query.layout === 'wide';
    const table: Table = isWide
      ? await wideTable(selection, query, db)
      : longTable({ ...query, safe: false }, true);
    const { total, numbers } = await checkLimits(selection, table, query, db);
    const codebook = query.codebook ? [await codebookSheet(selection, query.columns, db)] : [];

    return {
      ...table,
      total,
      write(pages, holdRecord, first) {
        const data = sheetOf(table, pages, first, holdRecord, numbers);
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
  { names, format, questions = [] }: Pick<Table, 'names' | 'format' | 'questions'>,
  query: XlsxQuery,
  db: Database,
): Promise<{ total: number; numbers: ReadonlySet<number> }> {
  const total = await readCount(db, countQuery(selection));
  let records = total;
  // A wide table has at most as many records as responses.
  if (records > MAX_RECORDS && query.layout === 'wide')
    records = await readCount(db, recordsQuery(selection, query), 'scan');
  if (records > MAX_RECORDS) throw tooManyRecords(MAX_RECORDS);

  const tooLong = cellTooLong(MAX_CELL_LENGTH);
  if (names.some((name) => name.length > MAX_CELL_LENGTH)) throw tooLong;
  const answer = query.numbers ? ANSWERS[query.value ?? 'response'] : undefined;
  const areNumbers = await findNumbers(db, selection, format.columns, MAX_CELL_LENGTH, answer);
  if (!areNumbers) throw tooLong;
  if (!answer) return { total, numbers: new Set() };

  const indexes = new Map(names.map((name, i) => [name, i]));
  const indexOf = ({ column }: Question) => indexes.get(column) as number;
  const numbers = new Set(questions.map(indexOf));
  for (const question of questions) {
    const key = JSON.stringify([question.shortcode, question.questionRef]);
    if (!areNumbers.has(key)) numbers.delete(indexOf(question));
  }
  return { total, numbers };
}

/**
 * Reads the codebook of a selection for a worksheet. Memory holds it until it has been written.
 *
 * @throws ApiError 400 if it does not fit in memory or in a worksheet
 */
async function codebookSheet(
  selection: Selection,
  columns: ColumnsBy | undefined,
  db: Database,
): Promise<Sheet> {
  const encode = csvEncoder({ columns: CODEBOOK_COLUMNS.length, cells: true });
  const reading = db.page(codebookQuery(selection, columns), QUESTIONS_OPTIONS, encode);
  const page = await reading.catch(
    ifTooMany('questions', 'shortcode or question_ref, or leave out codebook'),
  );

  for (let cell = 0; cell + 1 < page.cells.length; cell++) {
    if (cellLength(page, cell) > MAX_CELL_LENGTH) throw codebookCellTooLong(MAX_CELL_LENGTH);
  }
  return { name: 'codebook', data: writeCodebook(page) };
}

async function* writeCodebook(page: ProvenPage): AsyncGenerator<Uint8Array, void, void> {
  const table = { names: CODEBOOK_COLUMNS, records: recordsOfRows(CODEBOOK_COLUMNS.length) };
  yield* sheetOf(table, [page], page, async () => {});
  page.release();
}
