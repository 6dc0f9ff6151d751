import { sha256Hex } from '../encode/sha256.ts';

/** Entity tags as in RFC 9110 section 8.8.3; a list may have empty elements (section 5.6.1). */
const TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const LIST = new RegExp(`^[ \\t,]*${TAG}(?:[ \\t]*,[ \\t,]*${TAG})*[ \\t,]*$`);
const TAGS = new RegExp(TAG, 'g');

/**
 * The entity tag of a body: 128 bits of a SHA-256. It is weak, since the body is also sent compressed, and differs between
 * accounts even for equal bodies.
 */
export async function etagOf(accountId: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await sha256Hex(`${accountId} ${await sha256Hex(body)}`);
  return `W/"${digest.slice(0, 32)}"`;
}

/**
 * Whether an `If-None-Match` names a tag, compared weakly (RFC 9110 section 13.1.2). A header that cannot be parsed names none.
 */
export function ifNoneMatchNames(header: string | undefined, etag: string): boolean {
  if (header?.trim() === '*') return true;
  if (header === undefined || !LIST.test(header)) return false;
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  return header.match(TAGS)?.some((tag) => opaque(tag) === opaque(etag)) ?? false;
}
