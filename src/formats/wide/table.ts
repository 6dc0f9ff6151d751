import { BY_PARTICIPANT } from '../../db/order.ts';
import type { Database } from '../../db/database.ts';
import { MAX_QUESTIONS, findQuestions } from '../../db/questions.ts';
import { ifTooLarge, responseTooLarge, tooManyQuestions } from '../../http/errors.ts';
import type { Values } from '../../http/parameters.ts';
import type { Selection } from '../../responses/selection.ts';
import { FIRST_COLUMNS, TIMING_COLUMNS } from '../../responses/wide-columns.ts';
import type { Table } from '../file-format.ts';
import { addedColumns } from '../long-table.ts';
import { csvPages } from '../page-format.ts';
import { questionColumns } from './columns.ts';
import { type RowOptions, rowColumns } from './rows.ts';
import { wideTableBuilder } from './table-builder.ts';

/** The parameters of a wide file. */
export type WideOptions = RowOptions & Partial<Values<'repeats' | 'columns' | 'safe'>>;

/** The questions of a wide table. @throws ApiError 400 if there are too many */
export const wideQuestions = (...options: Parameters<typeof findQuestions>) =>
  findQuestions(...options).catch(ifTooLarge(() => tooManyQuestions(MAX_QUESTIONS)));

/**
 * A table with a record for each participant and chain of forms, and a column for each question.
 *
 * @throws ApiError 400 for a selection with too many questions
 */
export async function wideTable(
  selection: Selection,
  options: WideOptions,
  db: Database,
): Promise<Table> {
  const { repeats = 'last', safe, timing } = options;
  const found = await wideQuestions(db, selection, options.columns);
  const questions = questionColumns(found, selection.formVersions);
  const names = [
    ...FIRST_COLUMNS,
    ...(timing ? TIMING_COLUMNS : []),
    'metadata',
    ...addedColumns(options).names,
    ...questions.names,
  ];
  const row = rowColumns(options);
  const format = csvPages({
    columns: row.columns,
    order: BY_PARTICIPANT,
    cells: true,
    safe,
  });

  return {
    names,
    questions: found,
    format,
    rowTooLarge: responseTooLarge,
    async *records(writer, pages, holdRecord) {
      const builder = wideTableBuilder(questions, row, repeats, writer);
      for await (const page of pages) {
        for (const chunk of builder.add(page)) {
          await holdRecord(builder.size);
          yield chunk;
        }
        await holdRecord(builder.size);
      }
      yield* builder.end();
    },
  };
}
