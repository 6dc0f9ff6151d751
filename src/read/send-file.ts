import type { Context } from 'hono';
import { DatabaseError } from '../db/errors.ts';
import { countResponses } from '../db/responses.ts';
import { withSurvey } from '../db/surveys.ts';
import type { ExportFormat, Queries } from '../formats/file-format.ts';
import { attachment } from '../http/attachment.ts';
import type { AppEnv } from '../http/context.ts';
import { readBody, sendBody, sendStream, totalCount } from '../http/send.ts';
import { ExportLease } from './export-lease.ts';
import { isShort, pageReader } from './page-reader.ts';
import { readAhead } from './read-ahead.ts';
import { runScan } from './run-scan.ts';
import { type ResponsesQuery, requireResponses, selectFrom } from './select-responses.ts';
import { sentPages } from './sent-pages.ts';

/** The first page is small: it decides the status, and the client gets its first byte soon. */
const FIRST_PAGE_ROWS = 500;

/**
 * Sends the responses that a query selects as a file. The first page decides the status. If no other follows, the file is sent as
 * a whole, with its length; otherwise it is streamed.
 *
 * @throws LimitError if too many exports are running
 * @throws ApiError 400 for a selection that does not fit the format
 */
export async function sendFile<Q extends ResponsesQuery>(
  c: Context<AppEnv>,
  query: Q,
  fileFormat: ExportFormat<Q>,
): Promise<Response> {
  const { account, db, lease, signal } = c.var;
  const headers = attachment('responses', fileFormat.type);
  const exportLease = await ExportLease.begin(lease, signal, fileFormat.memoryBytes);
  const begun = await withSurvey(db, account.id, query.survey, signal, async (formVersions, reading) => {
    const scan: Queries['scan'] = (...work) => runScan(lease, reading, ...work);
    const selection = selectFrom(c, query, formVersions);
    const file = await fileFormat.prepare(selection, query, { db, signal: reading, scan });
    const { format, rowTooLarge } = file;
    const reader = pageReader(db, selection, format, reading, scan);
    const firstPage = reader.page({ after: query.after, limit: FIRST_PAGE_ROWS }).catch((error: unknown) => {
      throw rowTooLarge && error instanceof DatabaseError && error.kind === 'too-large' ? rowTooLarge() : error;
    });
    const count = () => countResponses(db, selection, query.after, reading, format.order);
    const counting = query.count ? (file.total ?? scan(count)) : undefined;
    const [first, total] = await Promise.all([firstPage, counting]);
    return { file, reader, first, total };
  });
  const { file, reader, first, total } = begun;
  if (first.rowCount === 0) await requireResponses(c, query.survey);
  const pages = sentPages(readAhead(reader, exportLease, first), c.var);
  const chunks = file.write(pages, (bytes) => exportLease.resizeFormat(bytes), first);
  const allHeaders = { ...headers, ...totalCount(total) };
  return isShort(first) ? sendBody(c, await readBody(c, chunks), allHeaders) : sendStream(c, chunks, allHeaders);
}
