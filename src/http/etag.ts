/** Entity tags as in RFC 9110 section 8.8.3; a list may have empty elements (section 5.6.1). */
const TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const LIST = new RegExp(`^[ \\t,]*${TAG}(?:[ \\t]*,[ \\t,]*${TAG})*[ \\t,]*$`);
const TAGS = new RegExp(TAG, 'g');

/**
 * Whether an `If-None-Match` names a tag, compared weakly (RFC 9110 section 13.1.2). A header that
 * cannot be parsed names none.
 */
export function ifNoneMatchNames(header: string | undefined, etag: string): boolean {
  if (header?.trim() === '*') return true;
  if (header === undefined || !LIST.test(header)) return false;

  const opaque = etag.replace(/^W\//, '');
  return header.match(TAGS)?.some((tag) => tag.endsWith(opaque)) ?? false;
}
