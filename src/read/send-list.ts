import type { Context } from 'hono';
import type { Database } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import type { EncodeRows } from '../encode/rows.ts';
import type { AppEnv } from '../http/context.ts';
import { type Frame, bodyOf, chunksOf, type sendBody, sendStream } from '../http/send.ts';
import { isShort, sentPages } from './page-reader.ts';
import { readFitting } from './read-fitting.ts';

/** A larger list is streamed, in pages of half the size. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
const MAX_LIST_ROWS = 20_000;

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
  const read = (
    limit: number,
    options: Pick<Parameters<Database['page']>[1], 'retry'>,
    after?: readonly string[],
  ) =>
    readFitting(limit, (rows) => {
      const canBeSmaller = rows > 1;
      const maxBytes = canBeSmaller ? MAX_LIST_BYTES : undefined;
      return db.page(query(rows, after), { maxBytes, canBeSmaller, ...options }, encode);
    });
  async function* pages(firstPage: Awaited<ReturnType<typeof read>>) {
    for (let page = firstPage; ;) {
      const { bytes, rowCount, requestedRows, lastKey } = page;
      yield page;
      if (isShort(page)) return;
      const fitting = Math.floor((rowCount * MAX_LIST_BYTES) / 2 / bytes);
      const limit = Math.max(1, Math.min(fitting, 2 * requestedRows));
      page = await read(limit, { retry: 'export' }, lastKey as string[]);
    }
  }
  const first = await read(MAX_LIST_ROWS, {});
  if (!isShort(first))
    return sendStream(c, chunksOf(sentPages(pages(first), c.var.stats), frame), headers);
  stats.rows = first.rowCount;
  return send(c, bodyOf(first, frame), headers);
}
