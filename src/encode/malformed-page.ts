/** The body is not what it should be: cut off, or not rows of text cells. */
export class MalformedPageError extends Error {
  override name = 'MalformedPageError';
}

/** @param at where in the page, counted in bytes from 0 */
export function malformed(at: number): MalformedPageError {
  return new MalformedPageError(`unexpected byte, or end, at position ${at} of a page`);
}
