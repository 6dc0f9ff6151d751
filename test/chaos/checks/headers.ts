import type { Layout } from '../expected/layout.ts';
import { type Request, formsOf, select } from '../expected/select.ts';
import type { Data } from '../model/account.ts';
import type { Received } from '../requests/send.ts';
import { isSettled } from './body.ts';

const COUNTED = new Set(['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx']);
/** The smallest body that is compressed, in bytes. */
const MIN_COMPRESSED_BYTES = 1024;
/** The service leaves out a link of more than 8 KB. */
const MAX_LINKED_NAME = 1000;

/** @returns what is wrong with `Content-Encoding`; undefined if nothing is */
export function problemInEncoding(
  { path }: Request,
  { status, headers, bytes }: Received,
  gzip = false,
): string | undefined {
  const encoding = headers.get('Content-Encoding');
  const mustCompress = gzip && status === 200 && bytes.length >= MIN_COMPRESSED_BYTES && path !== '/responses/xlsx';
  const isRight = mustCompress ? encoding === 'gzip' : encoding === null || gzip;
  return isRight ? undefined : `Content-Encoding: ${encoding}`;
}

/** Responses are counted at one moment, and their form versions found at another. */
export function problemInTotal(
  { path, parameters }: Request,
  { headers }: Received,
  states: readonly Data[],
): string | undefined {
  const total = headers.get('X-Total-Count');
  const isCounted = parameters.count && COUNTED.has(path);
  if (!isCounted) return total === null ? undefined : `X-Total-Count: ${total}`;
  const totals = states.flatMap((one) =>
    states.map(({ responses }) => select(parameters, formsOf(parameters, one), responses).length),
  );
  const isRight = total !== null && totals.includes(Number(total));
  return isRight ? undefined : `X-Total-Count: ${total}, expected ${totals.join(' or ')}`;
}

/** A full page has a link to the next one, after its last row. While rows change, it is unknown which one that is. */
export function problemInLink(
  { path, parameters }: Request,
  { status, headers, complete }: Received,
  layouts: readonly Layout[],
): string | undefined {
  if (path !== '/responses' || status !== 200 || !complete || !isSettled(layouts)) return undefined;
  const [{ units, limit }] = layouts as [Layout];
  const last = units[limit - 1]?.texts[0]?.slice(1);
  const token = last === undefined ? null : (JSON.parse(last) as { token: string }).token;
  const link = headers.get('Link');
  if (link === null && parameters.survey.length > MAX_LINKED_NAME) return undefined;
  const after = link === null ? null : new URL(link.slice(1, link.indexOf('>'))).searchParams.get('after');
  return after === token ? undefined : `Link: ${link}, expected one after ${token}`;
}
