import type { Context } from 'hono';
import { countResponses } from '../db/responses.ts';
import { DatabaseError } from '../db/errors.ts';
import { findSurvey, hasResponses } from '../db/surveys.ts';
import type { AppEnv } from '../http/context.ts';
import { type ApiError, noResponses } from '../http/errors.ts';
import { readBody, sendBody, sendStream, sendTagged } from '../http/send.ts';
import type { Cursor } from '../responses/cursor.ts';
import { type Filters, type Selection, select } from '../responses/selection.ts';
import type { PageFormat } from './formats.ts';
import { type Page, pageReader } from './page-reader.ts';
import { readAhead, readRange, withFirst } from './read-ahead.ts';

/** While a transfer runs, its key is checked again before a page if the last check is older than this. */
const KEY_CHECK_MS = 10_000;

/** The parameters that all endpoints under `/responses` share. */
export interface ResponsesQuery extends Filters {
  readonly survey: string;
  readonly after?: Cursor | undefined;
  readonly count?: boolean | undefined;
}

/** A body of responses. */
export interface ResponsesBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly format: PageFormat;
  /** Makes the body from the data of the pages. A page's data is freed before the next page is read. */
  readonly body: (pages: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** The number of responses to send; all unless given. */
  readonly limit?: number;
  /** Whether a body that fits one page of the database gets an entity tag. */
  readonly tagged?: boolean;
  /** The error for a first row that is larger than the format allows. */
  readonly rowTooLarge?: () => ApiError;
}

/** @throws ApiError `no responses` unless the caller's account has the survey */
export async function selectResponses(c: Context<AppEnv>, query: ResponsesQuery): Promise<Selection> {
  const { account, db, signal } = c.var;
  const formVersions = await findSurvey(db, account.id, query.survey, signal);
  if (formVersions.length === 0) throw noResponses(query.survey, account.email);
  return select(formVersions, query);
}

/** @throws ApiError `no responses` unless the caller's survey has a response, filtered out or not */
export async function requireResponses(c: Context<AppEnv>, surveyName: string): Promise<void> {
  const { account, db, signal } = c.var;
  if (!(await hasResponses(db, account.id, surveyName, signal))) throw noResponses(surveyName, account.email);
}

/**
 * Sends a selection of responses. The first page decides the status. If it is also the last, the body is sent as a whole, with
 * its length; otherwise it is streamed.
 */
export async function sendResponses(
  c: Context<AppEnv>,
  query: ResponsesQuery,
  selection: Selection,
  { headers, format, body, limit, tagged = false, rowTooLarge }: ResponsesBody,
): Promise<Response> {
  const { db, signal } = c.var;
  const reader = pageReader(db, selection, format, signal);
  const pages =
    limit === undefined ? readAhead(reader, query.after) : readRange(reader, { after: query.after, limit }, limit);
  const [first, total] = await Promise.all([
    pages.next().catch((error: unknown) => {
      throw rowTooLarge && error instanceof DatabaseError && error.kind === 'too-large' ? rowTooLarge() : error;
    }),
    query.count ? countResponses(db, selection, query.after, signal) : undefined,
  ]);
  const { rowCount, requestedRows } = first.value as Page;
  if (rowCount === 0) await requireResponses(c, query.survey);

  const chunks = body(dataOf(withFirst(first, pages), c.var));
  const allHeaders = { ...headers, ...(total === undefined ? {} : { 'X-Total-Count': String(total) }) };
  const isWhole = rowCount < requestedRows || rowCount === limit;
  if (!isWhole) return sendStream(c, chunks, allHeaders);
  // With a total there is no entity tag, because the total can change while the page does not.
  const send = tagged && !query.count ? sendTagged : sendBody;
  return send(c, await readBody(chunks), allHeaders);
}

/** The data of pages. Counts their rows, frees their memory, and checks from time to time that the key is still valid. */
async function* dataOf(
  pages: AsyncIterable<Page>,
  { stats, checkKey }: Pick<AppEnv['Variables'], 'stats' | 'checkKey'>,
): AsyncGenerator<Uint8Array, void, void> {
  let checked = Date.now();
  for await (const { data, release, rowCount } of pages) {
    if (Date.now() - checked >= KEY_CHECK_MS) {
      await checkKey();
      checked = Date.now();
    }
    yield data;
    release();
    stats.rows += rowCount;
  }
}
