import { hash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Layout } from '../expected/layout.ts';
import { formsOf, select } from '../expected/select.ts';
import type { Data } from '../model/account.ts';
import type { Request } from '../requests/request.ts';
import type { Received } from '../requests/send.ts';
import { isSettled, textOf } from './body.ts';
import type { Reading } from './read.ts';

const COUNTED = new Set(['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx']);
/** The smallest body that is compressed, in bytes. */
const MIN_COMPRESSED_BYTES = 1024;
/** The service leaves out a link of more than 8 KB. */
const MAX_LINKED_NAME = 1000;

/** A response with status 200 or 304, and what is expected of it. */
export interface Success {
  readonly request: Request;
  readonly reading: Reading;
  readonly received: Received;
  readonly layouts: readonly Layout[];
  readonly states: readonly Data[];
}

/** @returns what is wrong with the headers of a response; undefined if nothing is */
export const problemInHeaders = (context: Context, success: Success): string | undefined =>
  problemInEncoding(success) ??
  problemInTotal(success) ??
  problemInLink(success) ??
  problemInTag(context, success);

function problemInEncoding({
  request: { path, parameters },
  reading: { gzip, method, isLimited },
  received,
}: Success) {
  const { status, headers, complete, bytes } = received;
  const encoding = headers.get('Content-Encoding');
  const canBeCompressed = gzip && status === 200 && path !== '/responses/xlsx';
  const isLong = bytes.length >= MIN_COMPRESSED_BYTES;
  // The length of the body is unknown here, or was to the service, which streams a wide file that
  // may leave out all participants, and what does not fit into one result.
  const isUnknown = method === 'HEAD' || !complete || parameters.layout === 'wide' || isLimited;
  if (canBeCompressed && !isLong && isUnknown) return undefined;
  return encoding === (canBeCompressed && isLong ? 'gzip' : null)
    ? undefined
    : `Content-Encoding: ${encoding}`;
}

/** Responses are counted at one moment, and their form versions found at another. */
function problemInTotal({ request: { path, parameters }, received, states }: Success) {
  const total = received.headers.get('X-Total-Count');
  const isCounted = parameters.count && COUNTED.has(path);
  if (!isCounted) return total === null ? undefined : `X-Total-Count: ${total}`;
  const totals = states.flatMap((one) =>
    states.map((data) => select(parameters, formsOf(parameters, one), data).length),
  );
  const isRight = total !== null && totals.includes(Number(total));
  return isRight ? undefined : `X-Total-Count: ${total}, expected ${totals.join(' or ')}`;
}

/**
 * A full page has a link to the next one, after its last row. While rows change, it is unknown
 * which one that is.
 */
function problemInLink({ request: { path, parameters }, received, layouts }: Success) {
  const { status, headers, complete } = received;
  if (path !== '/responses' || status !== 200 || !complete || !isSettled(layouts)) return undefined;
  const [{ units, limit }] = layouts as [Layout];
  const last = units[limit - 1]?.texts[0]?.slice(1);
  const token = last === undefined ? null : (JSON.parse(last) as { token: string }).token;
  const link = headers.get('Link');
  const after = link && new URL(link.slice(1, link.indexOf('>'))).searchParams.get('after');
  if (after === null && parameters.survey.length > MAX_LINKED_NAME) return undefined;
  return after === token ? undefined : `a link to what follows ${after}, expected ${token}`;
}

/**
 * Checks that an entity tag always identifies the same account and body, and that a response has
 * status 304 exactly if its body is the one that the request's tag identifies. While rows change,
 * it is unknown which body a response without one would have had.
 */
function problemInTag({ tags }: Context, { request, reading, received, layouts }: Success) {
  const { account, path, parameters } = request;
  const { tag: given, isLimited } = reading;
  const { status, headers, complete, bytes } = received;
  const tag = headers.get('ETag');
  const isTagged =
    path === '/surveys' ||
    path === '/responses/digests' ||
    (path === '/responses' && !parameters.count);
  if (!isTagged) return tag === null ? undefined : `ETag: ${tag}`;
  if (tag === null) return isLimited ? undefined : 'no ETag';
  if (!complete) return undefined;
  const isCertain = isSettled(layouts);
  const isEmpty = bytes.length === 0;
  if (isEmpty && !isCertain) return undefined;
  // Layouts have a comma before the first response.
  const expected = () =>
    textOf(layouts[0] as Layout).replace(/^\{"responses":\[,/, '{"responses":[');
  const owner = `${account.id} ${hash('sha256', isEmpty ? expected() : bytes.toString('utf8'))}`;
  const first = tags.get(tag) ?? owner;
  tags.set(tag, first);
  if (first !== owner) return `the tag ${tag} of another body`;
  const isSame = given !== undefined && tags.get(given) === owner;
  return isCertain && isSame !== (status === 304) ? `If-None-Match: ${given}` : undefined;
}
