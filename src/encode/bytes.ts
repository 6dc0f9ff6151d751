/** @returns the parts one behind the other, as a copy */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Gives back the memory behind bytes that nobody needs any more: megabytes a page pile up faster than the garbage collector
 * sees them. (A transfer to nowhere frees at once.)
 */
export function free({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0);
}
