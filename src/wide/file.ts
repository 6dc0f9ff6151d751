import type { Database } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { BY_PARTICIPANT } from '../db/order.ts';
import { findQuestions } from '../db/questions.ts';
import { csvHeader } from '../encode/csv-cell.ts';
import { csvFormat } from '../export/formats.ts';
import type { ResponsesBody, ResponsesQuery } from '../export/send-responses.ts';
import { notInWide, responseTooLarge, tooManyQuestions } from '../http/errors.ts';
import type { Selection } from '../responses/selection.ts';
import { FIXED_COLUMNS, questionColumns } from './columns.ts';
import { Fold } from './fold.ts';
import { RECORD_COLUMNS } from './record.ts';

/** Limits of memory, which holds the column names and the records of one participant. */
const MAX_QUESTIONS = 5000;
const MAX_QUESTION_BYTES = 2 * 1024 * 1024;
const MAX_ROW_BYTES = 16 * 1024 * 1024;

/** In bytes. A whole page as text would take twice its memory until garbage collection, so it is decoded in parts. */
const TEXT_BYTES = 32 * 1024;

/** @throws ApiError 400 for a parameter that a wide file does not support */
export function checkWideQuery({ after, count }: ResponsesQuery): void {
  if (after) throw notInWide('after', 'a wide file is not ordered by time and cannot be resumed');
  if (count) throw notInWide('count', 'the number of records is known only at the end');
}

/**
 * A file with a record for each participant and chain of forms, and a column for each question.
 *
 * @throws ApiError 400 for a selection with too many questions
 */
export async function wideFile(
  db: Database,
  selection: Selection,
  options: { readonly bom?: boolean | undefined; readonly safe?: boolean | undefined },
  signal: AbortSignal,
): Promise<Pick<ResponsesBody, 'format' | 'body' | 'rowTooLarge'>> {
  const limits = { limit: MAX_QUESTIONS + 1, maxBytes: MAX_QUESTION_BYTES };
  const questions = await findQuestions(db, selection, limits, signal).catch((error: unknown) => {
    const isTooLarge = error instanceof DatabaseError && error.kind === 'too-large';
    throw isTooLarge ? tooManyQuestions(MAX_QUESTIONS) : error;
  });
  if (questions.length > MAX_QUESTIONS) throw tooManyQuestions(MAX_QUESTIONS);
  const columns = questionColumns(questions, selection.formVersions);
  const header = csvHeader([...FIXED_COLUMNS, ...columns.names], options);
  return {
    format: csvFormat({
      columns: RECORD_COLUMNS,
      order: BY_PARTICIPANT,
      safe: options.safe,
      maxRowBytes: MAX_ROW_BYTES,
    }),
    rowTooLarge: responseTooLarge,
    async *body(pages) {
      const fold = new Fold(columns);
      yield header;
      for await (const page of pages) {
        for (const text of textOf(page)) yield* fold.add(text);
      }
      yield* fold.end();
    },
  };
}

function* textOf(bytes: Uint8Array): Generator<string, void, void> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += TEXT_BYTES) {
    yield utf8.decode(bytes.subarray(at, at + TEXT_BYTES), { stream: at + TEXT_BYTES < bytes.length });
  }
}
