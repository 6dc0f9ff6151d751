import type { Context } from 'hono';
import type { Database } from '../db/database.ts';
import type { ExportFormat, FileQuery } from '../formats/file-format.ts';
import { attachment } from '../http/attachment.ts';
import type { AppEnv } from '../http/context.ts';
import { readBody, sendBody, sendStream, totalCount } from '../http/send.ts';
import type { Selection } from '../responses/selection.ts';
import { isShort, sentPages } from './page-reader.ts';
import { readAhead } from './read-ahead.ts';
import { type ResponsesQuery, readFirst } from './select-responses.ts';

/** The first page is small: it decides the status, and the client gets its first byte soon. */
const FIRST_PAGE_ROWS = 500;

/** What a record may take in the slot of its file, in bytes. A longer one takes a large slot. */
const MAX_RECORD_BYTES = 512 * 1024;

/**
 * Sends the responses that a query selects as a file. The first page decides the status. If no other
 * follows, the file is sent as a whole, with its length; otherwise it is streamed.
 *
 * @throws LimitError if too many exports are running
 * @throws ApiError 400 for a selection that does not fit the format
 */
export async function sendFile(
  c: Context<AppEnv>,
  query: ResponsesQuery & FileQuery,
  fileFormat: ExportFormat,
): Promise<Response> {
  const { slots, signal, stats } = c.var;
  await slots.take('file', signal);
  const holdRecord = async (bytes: number) => {
    if (bytes > MAX_RECORD_BYTES) await slots.take('large', signal);
    else slots.release('large');
  };
  const prepare = (selection: Selection, db: Database) =>
    fileFormat.prepare(selection, query, db, holdRecord);
  const { file, reader, first, total } = await readFirst(
    c,
    query,
    prepare,
    FIRST_PAGE_ROWS,
    async () => 'file',
  );

  const pages = sentPages(readAhead(reader, slots, first, signal), stats);
  const chunks = file.write(pages, first);
  const headers = { ...attachment('responses', fileFormat.type), ...totalCount(total) };
  return isShort(first)
    ? sendBody(c, await readBody(chunks), headers)
    : sendStream(c, chunks, headers);
}
