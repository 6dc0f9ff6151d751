import type { Context } from 'hono';
import type { AppEnv } from './context.ts';
import { readIfNoneMatch } from './etag.ts';

/**
 * Answers 304 when the client, by its `If-None-Match`, has what it asks for.
 *
 * @param currentEtag of what it would get; undefined when that has none, or is an error
 * @returns undefined when it has to be given the whole
 */
export async function answerIfUnchanged(
  c: Context<AppEnv>,
  currentEtag: () => Promise<string | undefined>,
): Promise<Response | undefined> {
  const known = readIfNoneMatch(c.req.header('If-None-Match'));
  if (!known) return undefined;
  const etag = await currentEtag();
  return etag !== undefined && known(etag) ? c.body(null, 304, { ETag: etag }) : undefined;
}
