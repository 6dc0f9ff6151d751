import { BY_PARTICIPANT } from '../db/order.ts';
import { findQuestions } from '../db/questions.ts';
import { writeHeader } from '../encode/records.ts';
import { csvFormat } from '../export/formats.ts';
import { runScan } from '../export/limits.ts';
import type { ResponsesQuery } from '../export/select-responses.ts';
import type { Table } from '../export/send-responses.ts';
import type { AppEnv } from '../http/context.ts';
import { notInWide, onlyInWide, responseTooLarge, tooManyQuestions } from '../http/errors.ts';
import type { Selection } from '../responses/selection.ts';
import { FIXED_COLUMNS, questionColumns } from './columns.ts';
import { Fold } from './fold.ts';
import { ParticipantTooLargeError, type Repeats } from './participant.ts';
import { type RowOptions, rowColumns } from './rows.ts';

/** Limits of memory, which holds the column names and the records of one participant. */
const MAX_QUESTIONS = 5000;
const MAX_QUESTION_BYTES = 2 * 1024 * 1024;
const MAX_ROW_BYTES = 16 * 1024 * 1024;

/** The parameters of a wide file. */
export interface WideOptions extends RowOptions {
  readonly repeats?: Repeats | undefined;
  readonly columns?: 'form_question' | 'question' | undefined;
  readonly safe?: boolean | undefined;
}

/** @throws ApiError 400 for a parameter that the layout does not support */
export function checkLayout(
  query: ResponsesQuery & WideOptions & { readonly layout?: 'long' | 'wide' | undefined },
): void {
  if (query.layout !== 'wide') {
    for (const name of ['value', 'repeats', 'require_metadata', 'columns'] as const) {
      if (query[name]) throw onlyInWide(name);
    }
    return;
  }
  if (query.after) throw notInWide('after', 'a wide file is not ordered by time and cannot be resumed');
  if (query.count) throw notInWide('count', 'the number of records is known only at the end');
}

/**
 * A table with a record for each participant and chain of forms, and a column for each question.
 *
 * @throws ApiError 400 for a selection with too many questions
 */
export async function wideTable(
  { db, signal, stats }: Pick<AppEnv['Variables'], 'db' | 'signal' | 'stats'>,
  selection: Selection,
  options: WideOptions,
): Promise<Table> {
  const limits = { limit: MAX_QUESTIONS + 1, maxBytes: MAX_QUESTION_BYTES };
  const tooMany = () => tooManyQuestions(MAX_QUESTIONS);
  const find = () => findQuestions(db, selection, limits, signal);
  const found = await runScan(stats.keyId as string, signal, find, tooMany);
  if (found.length > MAX_QUESTIONS) throw tooMany();
  const { metadata = [], repeats = 'last', safe } = options;
  const questions = questionColumns(found, selection.formVersions, options.columns);
  const names = [...FIXED_COLUMNS, ...metadata.map((key) => `metadata.${key}`), ...questions.names];
  const row = rowColumns(options);
  return {
    names,
    format: csvFormat({
      columns: row.columns,
      order: BY_PARTICIPANT,
      cells: true,
      safe,
      maxRowBytes: MAX_ROW_BYTES,
    }),
    rowTooLarge: responseTooLarge,
    async *records(writer, pages, hold) {
      writeHeader(writer, names);
      yield writer.take();
      const fold = new Fold(questions, row, repeats, writer);
      for await (const page of pages) {
        yield* fold.add(page);
        if (!hold(fold.size)) throw new ParticipantTooLargeError('there is no memory left for a large participant');
      }
      yield* fold.end();
    },
  };
}
