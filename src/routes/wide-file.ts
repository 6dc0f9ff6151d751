import type { Context } from 'hono';
import { answerStream } from '../http/send.ts';
import type { AppEnv } from '../http/context.ts';
import { csvHeader } from '../encode/csv-header.ts';
import { DatabaseError } from '../db/errors.ts';
import { BY_PARTICIPANT } from '../db/order.ts';
import { findQuestions } from '../db/questions.ts';
import { hasResponses } from '../db/responses.ts';
import { findForms } from '../db/surveys.ts';
import { type ApiError, answerTooLarge, noResponses, notInWide, tooManyQuestions } from '../http/errors.ts';
import { csvReader } from '../export/csv-reader.ts';
import { readAhead } from '../export/read-ahead.ts';
import { select } from '../responses/selection.ts';
import { ANSWER_COLUMNS } from '../wide/answer.ts';
import { wideBody } from '../wide/body.ts';
import { FIXED_COLUMNS, questionColumns } from '../wide/columns.ts';
import type { FileQuery } from './export-file.ts';

export interface WideQuery extends FileQuery {
  readonly bom?: boolean | undefined;
  readonly safe?: boolean | undefined;
}

/** With more, the columns' names and a participant's records would take memory that a stream does not have. */
const MAX_QUESTIONS = 5000;
const MAX_QUESTION_BYTES = 2 * 1024 * 1024;
/** More than this is not taken into memory for one answer. */
const MAX_ROW_BYTES = 16 * 1024 * 1024;

/** Answers with a survey's responses as one file, with a record for each participant and chain of forms, streamed. */
export async function wideFile(
  c: Context<AppEnv>,
  query: WideQuery,
  headers: Record<string, string>,
): Promise<Response> {
  if (query.after) throw notInWide('after', 'a wide file is not in the order of time, and cannot be resumed');
  if (query.count) throw notInWide('count', 'how many records there are is not known before all have been made');
  const { db, account, stats, signal, ending } = c.var;

  const forms = await findForms(db, account.id, query.survey, signal);
  if (forms.length === 0) throw noResponses(query.survey, account.email);
  const selection = select(forms, query);
  const limits = { limit: MAX_QUESTIONS + 1, maxBytes: MAX_QUESTION_BYTES };
  const questions = await findQuestions(db, selection, limits, signal).catch(refusing(tooManyQuestions(MAX_QUESTIONS)));
  if (questions.length > MAX_QUESTIONS) throw tooManyQuestions(MAX_QUESTIONS);
  if (questions.length === 0 && !(await hasResponses(db, forms, signal))) {
    throw noResponses(query.survey, account.email);
  }

  const columns = questionColumns(questions, selection.forms);
  const options = { columns: ANSWER_COLUMNS, order: BY_PARTICIPANT, maxRowBytes: MAX_ROW_BYTES, safe: query.safe };
  const pages = readAhead(csvReader(db, selection, signal, options));
  const first = await pages.next().catch(refusing(answerTooLarge()));
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const head = csvHeader([...FIXED_COLUMNS, ...columns.names], query);
  const all = first.done ? pages : following(first.value, pages);
  return answerStream(c, wideBody(head, columns, all, stats), ending, headers);
}

async function* following<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield first;
  yield* rest;
}

/** For a query whose answer may be too large: that is then the request's fault. */
const refusing = (refusal: ApiError) => (error: unknown) => {
  throw error instanceof DatabaseError && error.kind === 'too-large' ? refusal : error;
};
