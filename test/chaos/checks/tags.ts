import { hash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Layout } from '../expected/layout.ts';
import type { Request } from '../expected/select.ts';
import type { Received } from '../requests/send.ts';
import { isSettled, textOf } from './body.ts';
import type { Reading } from './read.ts';

/** The account and the body that each entity tag identifies: those of the first response that had it. */
export type Tags = Map<string, string>;

/**
 * Checks that an entity tag always identifies the same account and body, and that a response has status 304 exactly if its body is
 * the one that the request's tag identifies. While rows change, it is unknown which body a response without one would have had.
 */
export function problemInTag(
  { tags }: Context,
  { account, path, parameters }: Request,
  { tag: given, isLimited }: Reading,
  { status, headers, complete, bytes }: Received,
  layouts: readonly Layout[],
): string | undefined {
  const tag = headers.get('ETag');
  const isTagged = path === '/surveys' || path === '/responses/digests' || (path === '/responses' && !parameters.count);
  if (!isTagged) return tag === null ? undefined : `ETag: ${tag}`;
  if (tag === null) return isLimited ? undefined : 'no ETag';
  if (!complete) return undefined;
  const [layout] = layouts as [Layout];
  const isCertain = isSettled(layouts);
  const isEmpty = bytes.length === 0;
  if (isEmpty && !isCertain) return undefined;
  // Layouts have a comma before the first response.
  const body = isEmpty ? textOf(layout).replace(/^\{"responses":\[,/, '{"responses":[') : bytes.toString('utf8');
  const owner = `${account.id} ${hash('sha256', body)}`;
  const first = tags.get(tag) ?? owner;
  tags.set(tag, first);
  if (first !== owner) return `the tag ${tag} of another body`;
  const isSame = given !== undefined && tags.get(given) === owner;
  return isCertain && isSame !== (status === 304) ? `If-None-Match: ${given}` : undefined;
}
