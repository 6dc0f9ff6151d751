import { sha256Hex } from '../encode/sha256.ts';

/** Goes up with every change to what a body is made of the same rows: what clients hold is then another one's tag. */
const REPRESENTATION = 1;

/** Entity tags, as RFC 9110 section 8.8.3 writes them; in a list, section 5.6.1, elements may be empty. */
const TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const LIST = new RegExp(`^[ \\t,]*${TAG}(?:[ \\t]*,[ \\t,]*${TAG})*[ \\t,]*$`);
const TAGS = new RegExp(TAG, 'g');

/**
 * A tag for a body: another one as soon as anything is different that the body is made of. A weak one, since the body
 * goes out compressed as well.
 *
 * @param parts all that the body is made of, or what stands for it, as JSON can hold it
 */
export async function etagOf(...parts: readonly unknown[]): Promise<string> {
  const digest = await sha256Hex(JSON.stringify([REPRESENTATION, ...parts]));
  return `W/"${digest.slice(0, 32)}"`;
}

/**
 * Reads an `If-None-Match`: RFC 9110 section 13.1.2.
 *
 * @returns whether a tag is among those in the header, compared weakly; undefined when it is missing or cannot be read
 */
export function readIfNoneMatch(header: string | undefined): ((etag: string) => boolean) | undefined {
  if (header?.trim() === '*') return () => true;
  if (header === undefined || !LIST.test(header)) return undefined;
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  const tags = new Set(header.match(TAGS)?.map(opaque));
  return (etag) => tags.has(opaque(etag));
}
