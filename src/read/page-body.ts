import type { HeldPage } from '../db/client.ts';
import { concat } from '../encode/bytes.ts';
import type { RequestLease } from '../limits/limits.ts';

/** Makes a complete body from a page, and frees the page. */
export function bodyOf(
  { data, release }: HeldPage,
  lease: RequestLease,
  start: string | Uint8Array,
  end: string,
): Uint8Array<ArrayBuffer> {
  const body = concat(start, data, end);
  release();
  lease.body.setAnyway(body.length);
  return body;
}

/** Likewise, from objects that each follow a comma: the first comma is dropped. */
export function jsonBodyOf(page: HeldPage, lease: RequestLease, start: string, end: string): Uint8Array<ArrayBuffer> {
  return bodyOf({ ...page, data: page.data.subarray(','.length) }, lease, start, end);
}
