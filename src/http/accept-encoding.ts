/** A coding and its weight (RFC 9110 section 12.4.2), in lower case, without white space. */
const ELEMENT = /^([\w!#$%&'*+.^`|~-]+)(?:;q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * Whether a client prefers gzip to an unencoded body (RFC 9110 section 12.5.3). Elements that
 * cannot be parsed are ignored. A client without `Accept-Encoding` gets no gzip, although the RFC
 * would allow it.
 */
export function prefersGzip(acceptEncoding: string): boolean {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const [, coding = '', weight = '1'] = ELEMENT.exec(element.replaceAll(/[ \t]/g, '')) ?? [];
    // equivalent: section 8.4.1.3
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, Number(weight));
  }

  const rest = weights.get('*');
  const gzip = weights.get('gzip') ?? rest ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? rest ?? 0);
}
