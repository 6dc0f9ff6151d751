import type { Context } from 'hono';
import { type Cursor, encodeCursor } from '../responses/cursor.ts';
import type { AppEnv } from './context.ts';

/** In bytes. Clients and proxies limit the length of URLs and of headers. */
const MAX_URL_LENGTH = 8 * 1024;

/**
 * The header `Link` (RFC 8288) of a page: the same request after its last response, without `count`
 * and the parameters that the endpoint does not know.
 *
 * @returns no header if the URL would be too long
 */
export function linkToNext(c: Context<AppEnv>, last: Required<Cursor>): Record<string, string> {
  const url = new URL(c.req.url);
  for (const name of ['after', 'count', ...c.var.ignored]) url.searchParams.delete(name);
  url.searchParams.append('after', encodeCursor(last));

  return url.href.length > MAX_URL_LENGTH ? {} : { Link: `<${url.href}>; rel="next"` };
}
