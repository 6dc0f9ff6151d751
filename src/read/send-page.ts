import type { Context } from 'hono';
import { DatabaseError } from '../db/errors.ts';
import { BY_TIME } from '../db/order.ts';
import { jsonPages } from '../formats/page-format.ts';
import type { AppEnv } from '../http/context.ts';
import { linkToNext } from '../http/link.ts';
import { LimitError } from '../limits/slots.ts';
import type { Values } from '../http/parameters.ts';
import {
  JSON_TYPE,
  bodyOf,
  chunksOf,
  sendBody,
  sendStream,
  sendTagged,
  totalCount,
} from '../http/send.ts';
import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { type Page, type PageKind, type PageReader, isShort, sentPages } from './page-reader.ts';
import { rangeAfter } from './read-ahead.ts';
import { type ResponsesQuery, readFirst } from './select-responses.ts';

/** A page of more responses takes a large slot, if there is one. */
const MAX_QUICK_ROWS = 500;

const FRAME = { start: '{"responses":[', end: ']}' };

/**
 * Sends the first `pageSize` of the responses that a query selects, as JSON. If one response of the
 * database holds them, the body is sent as a whole, with its length and entity tag; otherwise it is
 * streamed.
 *
 * @throws LimitError if too many are being read
 */
export async function sendPage(
  c: Context<AppEnv>,
  query: ResponsesQuery & Values<'pageSize' | 'order'>,
): Promise<Response> {
  const { pageSize } = query;
  const order = { ...BY_TIME, direction: query.order };
  const format = jsonPages({ before: ',', order });
  const { reader, first, total } = await readFirst(
    c,
    query,
    () => ({ format }),
    pageSize,
    (isWalk) => takeSlot(c, pageSize, isWalk),
  );
  const headers = { ...JSON_TYPE, ...totalCount(total) };
  const rest = pageSize - first.rowCount;
  if (rest === 0 || isShort(first) || !first.last) {
    const link = rest === 0 && first.last ? linkToNext(c, first.last) : {};
    c.var.stats.rows = first.rowCount;
    // With a total there is no entity tag, because the total can change while the page does not.
    const send = query.count ? sendBody : sendTagged;
    return send(c, bodyOf(first, FRAME), { ...headers, ...link });
  }
  const end = await reader.end(first.last, rest);
  const pages = sentPages(pagesUpTo(pageSize, end, reader, first), c.var.stats);
  return sendStream(c, chunksOf(pages, FRAME), { ...headers, ...(end && linkToNext(c, end)) });
}

/** Takes the slot for a page. If there is none for a large one, the page is sent in parts. */
async function takeSlot(c: Context<AppEnv>, pageSize: number, isWalk: boolean): Promise<PageKind> {
  const { signal, slots } = c.var;
  const kind = isWalk ? 'walk' : 'quick';
  if (pageSize > MAX_QUICK_ROWS) {
    try {
      await slots.take('large', signal);
      return 'large';
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
    }
  }
  await slots.take(kind, signal);
  return kind;
}

/**
 * Reads responses page by page, after the first page.
 *
 * @param total the number of responses after which to stop
 * @param end the position that the header `Link` names, if there is one
 * @throws DatabaseError if a full page ends elsewhere, because responses were stored or deleted
 * since `end` was found
 */
async function* pagesUpTo(total: number, end: Cursor | undefined, reader: PageReader, first: Page) {
  let { last } = first;
  let left = total;
  for (let page = first; ;) {
    last = page.last ?? last;
    left -= page.rowCount;
    yield page;
    const rest: Range | undefined = left > 0 ? rangeAfter(page, {}, reader.pageBytes) : undefined;
    if (!rest) break;
    page = await reader.page({ ...rest, limit: Math.min(rest.limit, left) });
  }
  if (left === 0 ? !isSamePosition(last, end) : end)
    throw new DatabaseError('transient', 'a page that changed while it was sent');
}
