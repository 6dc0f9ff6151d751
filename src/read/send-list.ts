import type { Context } from 'hono';
import type { Query } from '../db/sql.ts';
import type { EncodeRows } from '../encode/rows.ts';
import type { AppEnv } from '../http/context.ts';
import { type Frame, bodyOf, chunksOf, type sendBody, sendStream } from '../http/send.ts';
import { KINDS } from '../limits/slots.ts';
import { isShort, sentPages } from './page-reader.ts';
import { readFitting } from './read-fitting.ts';

/** A larger list is streamed. */
const MAX_LIST_ROWS = 20_000;
const MAX_LIST_BYTES = KINDS.quick.bytes / 2;
/** The length of the result of a part that is planned for, in bytes. */
const PART_BYTES = 0.8 * MAX_LIST_BYTES;
const MAX_ROW_BYTES = KINDS.large.bytes / 2;

/** Selects the first rows after a key, or of all. */
export type ListQuery = (limit: number, after?: readonly string[]) => Query;

/**
 * Sends a list of rows that are not responses: as a whole if one page holds them, otherwise page by
 * page as they are read. A row that is stored meanwhile is included if it sorts after what has been
 * read.
 *
 * @param encode has the query's key as its `lastKey`
 * @param send sends a whole list
 * @throws DatabaseError, LimitError
 */
export async function sendList(
  c: Context<AppEnv>,
  query: ListQuery,
  encode: EncodeRows,
  frame: Frame,
  headers: Readonly<Record<string, string>>,
  send: typeof sendBody,
): Promise<Response> {
  const { db, stats } = c.var;
  const read = (limit: number, after?: readonly string[]) =>
    readFitting(limit, (rows) => {
      const canShrink = rows > 1;
      const maxBytes = canShrink ? MAX_LIST_BYTES : MAX_ROW_BYTES;
      return db.page(query(rows, after), { maxBytes, canShrink }, encode);
    });

  async function* pages(firstPage: Awaited<ReturnType<typeof read>>) {
    for (let page = firstPage; ;) {
      const { bytes, rowCount, requestedRows, lastKey } = page;
      yield page;
      if (isShort(page)) return;
      const fitting = Math.floor((rowCount * PART_BYTES) / bytes);
      const limit = Math.max(1, Math.min(fitting, 2 * requestedRows));
      page = await read(limit, lastKey as string[]);
    }
  }

  const first = await read(MAX_LIST_ROWS);
  if (!isShort(first))
    return sendStream(c, chunksOf(sentPages(pages(first), stats), frame), headers);
  stats.rows = first.rowCount;
  return send(c, bodyOf(first, frame), headers);
}
