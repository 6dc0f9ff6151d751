import type { Context } from 'hono';
import type { Database } from '../db/client.ts';
import { countResponses } from '../db/responses.ts';
import { DatabaseError } from '../db/errors.ts';
import { withSurvey } from '../db/surveys.ts';
import type { AppEnv } from '../http/context.ts';
import type { ApiError } from '../http/errors.ts';
import type { PageData } from '../encode/page.ts';
import type { RecordWriter } from '../encode/records.ts';
import { linkToNext } from '../http/link.ts';
import { readBody, sendBody, sendStream, sendTagged } from '../http/send.ts';
import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Selection } from '../responses/selection.ts';
import type { PageFormat } from './formats.ts';
import { ExportLease, type Lease, leaseExport, leaseJsonPage, runScan } from './limits.ts';
import { type Page, type PageReader, isShort, pageReader } from './page-reader.ts';
import { handled, readAhead, readRange, withFirst } from './read-ahead.ts';
import { type ResponsesQuery, requireResponses, selectFrom } from './select-responses.ts';

/** While a transfer runs, its key is checked again before a page if the last check is older than this. */
const KEY_CHECK_MS = 10_000;

/** Reports the memory, in bytes, that a body takes besides its pages. @returns false if there is no room for it */
export type Hold = (bytes: number) => boolean;

/** A body of responses. */
export interface ResponsesBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly format: PageFormat;
  /**
   * Makes the body from the pages. A page's memory is freed before the next page is read.
   */
  readonly body: (pages: AsyncIterable<PageData>, hold: Hold) => AsyncIterable<Uint8Array>;
  /** The number of responses, if it is known. */
  readonly total?: number | undefined;
  /** Whether a body that fits one page of the database gets an entity tag. */
  readonly tagged?: boolean;
  /** The error for a first row that is larger than the format allows. */
  readonly rowTooLarge?: () => ApiError;
}

/** A table of responses: how its pages are read, and how its records are made of them. */
export interface Table extends Pick<ResponsesBody, 'format' | 'rowTooLarge'> {
  /** The names of its columns. */
  readonly names: readonly string[];
  /** Writes the header and the records. The bytes of each chunk are valid until the next is requested. */
  readonly records: (
    writer: RecordWriter,
    ...from: Parameters<ResponsesBody['body']>
  ) => AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Sends the responses that a query selects. The first page decides the status. If no other follows, the body is sent as a whole,
 * with its length; otherwise it is streamed.
 *
 * @param limit the number of responses to send; all if undefined
 * @param bodyOf describes the body. It may be called twice: see {@link withSurvey}
 * @throws ApiError 429 or 503 if too many exports are running, or too many pages being sent
 */
export async function sendResponses(
  c: Context<AppEnv>,
  query: ResponsesQuery,
  limit: number | undefined,
  bodyOf: (selection: Selection, signal: AbortSignal) => ResponsesBody | Promise<ResponsesBody>,
): Promise<Response> {
  const { account, db, signal, stats } = c.var;
  const keyId = stats.keyId as string;
  const lease = await (limit === undefined ? leaseExport(keyId, signal) : leaseJsonPage(keyId, limit, signal));
  try {
    const begun = await withSurvey(db, account.id, query.survey, signal, async (formVersions, reading) => {
      const selection = selectFrom(c, query, formVersions);
      return readFirst(db, query, limit, selection, await bodyOf(selection, reading), lease, reading);
    });
    return await sendFrom(c, query, limit, begun, lease);
  } finally {
    void Promise.resolve(stats.transfer).then(() => lease.end());
  }
}

/** Reads the first page, and counts the responses if requested. */
async function readFirst(
  db: Database,
  query: ResponsesQuery,
  limit: number | undefined,
  selection: Selection,
  responsesBody: ResponsesBody,
  lease: Lease,
  signal: AbortSignal,
) {
  const { format, total: known, rowTooLarge } = responsesBody;
  const reader = pageReader(db, selection, format, signal);
  const pages =
    lease instanceof ExportLease
      ? readAhead(reader, lease, query.after)
      : readRange(reader, { after: query.after, limit: limit as number }, limit);
  const nextPage = async () =>
    pages.next().catch((error: unknown) => {
      throw rowTooLarge && error instanceof DatabaseError && error.kind === 'too-large' ? rowTooLarge() : error;
    });
  const count = () => countResponses(db, selection, query.after, signal, format.order);
  const counting = query.count ? (known ?? runScan(lease.keyId, signal, count)) : undefined;
  const [first, total] = await Promise.all([nextPage(), counting]);
  return { ...responsesBody, reader, pages, nextPage, first, total };
}

async function sendFrom(
  c: Context<AppEnv>,
  query: ResponsesQuery,
  limit: number | undefined,
  { reader, pages, nextPage, first, total, headers, body, tagged = false }: Awaited<ReturnType<typeof readFirst>>,
  lease: Lease,
): Promise<Response> {
  const page = first.value as Page;
  const head = [first];
  const required = page.rowCount === 0 ? handled(requireResponses(c, query.survey)) : undefined;
  if (isShort(page) || page.rowCount === limit) head.push(await nextPage());
  const isWhole = head.at(-1)?.done;
  if (isWhole) await required;

  const hold: Hold = (bytes) => (lease instanceof ExportLease ? lease.holdForFormat(bytes) : true);
  const last = limit === undefined ? undefined : await lastOf(page, limit, query.after, isWhole ? undefined : reader);
  const chunks = body(checkedPages(endingAt(last, withFirst(head, pages)), c.var), hold);
  const allHeaders = {
    ...headers,
    ...(total === undefined ? {} : { 'X-Total-Count': String(total) }),
    ...(last && linkToNext(c, last)),
  };
  if (!isWhole) return sendStream(c, chunks, allHeaders);
  // With a total there is no entity tag, because the total can change while the page does not.
  const send = tagged && !query.count ? sendTagged : sendBody;
  return send(c, await readBody(chunks), allHeaders);
}

/** The data of pages, joined. */
export async function* dataOf(pages: AsyncIterable<PageData>): AsyncGenerator<Uint8Array, void, void> {
  for await (const { data } of pages) yield data;
}

/**
 * The position of the last of `limit` responses; undefined if there are fewer.
 *
 * @param after the position before the first page of the database
 * @param reader for the responses after that page, if there are any
 */
async function lastOf(
  { rowCount, last }: Page,
  limit: number,
  after: Cursor | undefined,
  reader: PageReader | undefined,
): Promise<Required<Cursor> | undefined> {
  const rest = limit - rowCount;
  if (rest === 0) return last;
  return reader && (await reader.boundaries({ after: last ?? after, limit: rest }, rest))[0];
}

/**
 * @param end the position that the header `Link` names, if there is one
 * @throws DatabaseError if the pages end elsewhere, because responses were stored or deleted since it was found
 */
async function* endingAt(end: Cursor | undefined, pages: AsyncIterable<Page>): AsyncGenerator<Page, void, void> {
  let last: Cursor | undefined;
  for await (const page of pages) {
    last = page.last ?? last;
    yield page;
  }
  if (end && !isSamePosition(last, end)) throw new DatabaseError('transient', 'a page that changed while it was sent');
}

/** The pages that have rows. Counts the rows, frees their memory, and checks from time to time that the key is still valid. */
async function* checkedPages(
  pages: AsyncIterable<Page>,
  { stats, checkKey }: Pick<AppEnv['Variables'], 'stats' | 'checkKey'>,
): AsyncGenerator<PageData, void, void> {
  let checked = Date.now();
  for await (const page of pages) {
    if (Date.now() - checked >= KEY_CHECK_MS) {
      await checkKey();
      checked = Date.now();
    }
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}
