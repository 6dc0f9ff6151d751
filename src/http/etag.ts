/**
 * Whether an `If-None-Match` names a tag, compared weakly (RFC 9110 section 13.1.2). A tag has no
 * quotes in it, so a list has the tag's own quotes around its text nowhere else.
 */
export const ifNoneMatchNames = (header: string, etag: string): boolean =>
  header.trim() === '*' || header.includes(etag.replace(/^W\//, ''));
