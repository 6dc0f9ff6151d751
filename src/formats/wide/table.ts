import { BY_PARTICIPANT } from '../../db/order.ts';
import type { Database } from '../../db/database.ts';
import { MAX_QUESTIONS, findQuestions } from '../../db/questions.ts';
import { ifTooLarge, tooLarge } from '../../http/errors.ts';
import type { Selection } from '../../responses/selection.ts';
import { FIRST_COLUMNS, TIMING_COLUMNS } from '../../responses/wide-columns.ts';
import type { FileQuery, HoldRecord, Table } from '../file-format.ts';
import { csvPages } from '../page-format.ts';
import { questionColumns } from './columns.ts';
import { rowColumns } from './rows.ts';
import { wideRecords } from './records.ts';

/** The questions of a wide table. @throws ApiError 400 if there are too many */
export const wideQuestions = (...options: Parameters<typeof findQuestions>) =>
  findQuestions(...options).catch(
    ifTooLarge(
      tooLarge(
        `more than ${MAX_QUESTIONS} questions, or their names are too long for a wide file`,
        'shortcode or question_ref, or leave out layout=wide',
      ),
    ),
  );

/**
 * A table with a record for each participant and chain of forms, and a column for each question.
 *
 * @throws ApiError 400 for a selection with too many questions
 */
export async function wideTable(
  selection: Selection,
  query: FileQuery,
  db: Database,
  holdRecord: HoldRecord,
): Promise<Table> {
  const { repeats, safe, timing } = query;
  const found = await wideQuestions(db, selection, query.columns);
  const questions = questionColumns(found, selection.formVersions);
  const row = rowColumns(query);
  const names = [
    ...FIRST_COLUMNS,
    ...(timing ? TIMING_COLUMNS : []),
    'metadata',
    ...row.names,
    ...questions.names,
  ];
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
    rowTooLarge: tooLarge(
      'an answer that is too large for a wide file',
      'shortcode, question_ref or userid, or leave out layout=wide',
    ),
    records: wideRecords({ questions, row, repeats }, holdRecord),
  };
}
