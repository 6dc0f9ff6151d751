const opaque = (tag: string) => tag.trim().replace(/^W\//, '');

/**
 * Whether an `If-None-Match` names a tag, compared weakly (RFC 9110 section 13.1.2). Our tags have
 * no comma.
 */
export const ifNoneMatchNames = (header: string, etag: string) =>
  header.split(',').some((tag) => ['*', opaque(etag)].includes(opaque(tag)));
