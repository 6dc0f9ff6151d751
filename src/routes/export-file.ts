import type { Context } from 'hono';
import { answerStream, answerWhole } from '../http/send.ts';
import type { AppEnv } from '../http/context.ts';
import { WORTH_COMPRESSING } from '../http/compression.ts';
import type { Cursor } from '../responses/cursor.ts';
import type { Database } from '../db/client.ts';
import { countResponses, hasResponses } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import { findForms } from '../db/surveys.ts';
import { noResponses } from '../http/errors.ts';
import { type FilePage, type ResponseReader, readAhead } from '../export/read-ahead.ts';
import { readIfSmall } from '../http/small-body.ts';
import type { Filters } from '../http/params.ts';
import type { RequestStats } from '../http/request-stats.ts';
import { select } from '../responses/selection.ts';

/** What a file of responses is made of. */
export interface FileFormat {
  readonly headers: Record<string, string>;
  /** What stands before the first response. */
  readonly head: Uint8Array;
  readonly reader: (db: Database, selection: Selection, signal: AbortSignal) => ResponseReader<FilePage>;
}

export interface FileQuery extends Filters {
  readonly survey: string;
  readonly after?: Cursor | undefined;
  readonly count?: boolean | undefined;
}

/** Answers with a survey's responses as one file, streamed. */
export async function exportFile(c: Context<AppEnv>, query: FileQuery, format: FileFormat): Promise<Response> {
  const { db, account, stats, signal, ending } = c.var;

  const forms = await findForms(db, account.id, query.survey, signal);
  if (forms.length === 0) throw noResponses(query.survey, account.email);
  const selection = select(forms, query);
  const pages = readAhead(format.reader(db, selection, signal), query.after);
  const [first, total] = await Promise.all([
    pages.next().then(({ value }) => value as FilePage),
    query.count ? countResponses(db, selection, query.after, signal) : undefined,
  ]);
  if (first.rowCount === 0 && !(await hasResponses(db, forms, signal))) throw noResponses(query.survey, account.email);

  const headers = { ...format.headers, ...(total === undefined ? {} : { 'X-Total-Count': String(total) }) };
  // A file that is resumed has its beginning already.
  const head = query.after ? [] : [format.head];
  const body = await readIfSmall(bodyOf(head, first, pages, stats), WORTH_COMPRESSING);
  if ('whole' in body) return answerWhole(c, body.whole, headers);
  if (c.req.method === 'HEAD') {
    ending.abort();
    await pages.return();
    return c.body(null, 200, headers);
  }
  return answerStream(c, body.chunks, ending, headers);
}

async function* bodyOf(
  head: readonly Uint8Array[],
  first: FilePage,
  rest: AsyncIterable<FilePage>,
  stats: RequestStats,
): AsyncGenerator<Uint8Array, void, void> {
  yield* head;
  yield first.data;
  first.release();
  stats.rows += first.rowCount;
  for await (const page of rest) {
    yield page.data;
    page.release();
    stats.rows += page.rowCount;
  }
}
