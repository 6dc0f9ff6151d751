/** One coding and its weight, in lower case, without white space. Weights as in RFC 9110 section 12.4.2. */
const ELEMENT = /^([\w!#$%&'*+.^`|~-]+)(?:;q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * Whether a client wants gzip rather than a body as it is, by its `Accept-Encoding`: RFC 9110 section 12.5.3. An element
 * that cannot be read counts for nothing. A client that does not say what it takes gets no gzip, although it would have to
 * expect it.
 */
export function prefersGzip(acceptEncoding: string): boolean {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const [, coding = '', weight = '1'] = ELEMENT.exec(element.replaceAll(/[ \t]/g, '')) ?? [];
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, Number(weight)); // the same: section 8.4.1.3
  }
  const rest = weights.get('*');
  const gzip = weights.get('gzip') ?? rest ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? rest ?? 0);
}
