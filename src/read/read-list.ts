import type { Database, HeldPage } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import type { EncodeRows } from '../encode/rows.ts';
import type { AppEnv } from '../http/context.ts';
import { readFitting } from './read-fitting.ts';
import { sentPages } from './sent-pages.ts';

/** A larger list is streamed, in pages of half the size. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
const MAX_LIST_ROWS = 20_000;

/** A list of rows that are not responses. */
export interface List {
  /** The first rows after a key, or of all. */
  readonly query: (limit: number, after?: readonly string[]) => Query;
  /** Its `lastKey` is such a key. */
  readonly encode: EncodeRows;
}

/**
 * Reads the rows of a list: at once if one page holds them, otherwise page by page as they are sent. A row that is stored meanwhile is
 * included if it sorts after what has been read.
 *
 * @returns the first page, whether it is the whole list, and all pages
 * @throws DatabaseError
 */
export async function readList({ query, encode }: List, context: AppEnv['Variables']) {
  const { db, signal } = context;
  const read = (limit: number, options: Pick<Parameters<Database['page']>[1], 'retry'>, after?: readonly string[]) =>
    readFitting(limit, async (rows): Promise<ListPage> => {
      const canBeSmaller = rows > 1;
      const maxBytes = canBeSmaller ? MAX_LIST_BYTES : undefined;
      const page = await db.page(query(rows, after), { signal, maxBytes, canBeSmaller, ...options }, encode);
      return { ...page, requestedRows: rows };
    });
  async function* pages(page: ListPage): AsyncGenerator<ListPage, void, void> {
    for (;;) {
      const { bytes, rowCount, requestedRows, lastKey } = page;
      yield page;
      if (isWhole(page)) return;
      const fitting = Math.floor((rowCount * MAX_LIST_BYTES) / 2 / bytes);
      const limit = Math.max(1, Math.min(fitting, 2 * requestedRows));
      page = await read(limit, { retry: 'export' }, lastKey as string[]);
    }
  }
  const first = await read(MAX_LIST_ROWS, {});
  return { first, isWhole: isWhole(first), pages: sentPages(pages(first), context) };
}

interface ListPage extends HeldPage {
  readonly requestedRows: number;
}

const isWhole = ({ rowCount, requestedRows }: ListPage) => rowCount < requestedRows;
