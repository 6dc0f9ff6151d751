const ALPHABET = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');

/** The number of characters for this many bytes. */
export const base64UrlLength = (bytes: number) => Math.ceil((4 * bytes) / 3);

/**
 * Writes bytes as base64url without padding (RFC 4648 section 5).
 *
 * @param length the number of bytes to take from the start of `from`
 * @returns the position after the text
 */
export function writeBase64Url(from: Uint8Array, length: number, to: Uint8Array, at: number): number {
  let write = at;
  for (let read = 0; read < length; read += 3) {
    // Bytes after the end count as 0; their characters are cut off.
    const second = read + 1 < length ? (from[read + 1] as number) : 0;
    const third = read + 2 < length ? (from[read + 2] as number) : 0;
    const bits = ((from[read] as number) << 16) | (second << 8) | third;
    to[write] = ALPHABET[bits >> 18] as number;
    to[write + 1] = ALPHABET[(bits >> 12) & 0x3f] as number;
    to[write + 2] = ALPHABET[(bits >> 6) & 0x3f] as number;
    to[write + 3] = ALPHABET[bits & 0x3f] as number;
    write += 4;
  }
  return at + base64UrlLength(length);
}
