const ALPHABET = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
/** The two characters that encode 12 bits, by these bits. */
const PAIRS = Uint16Array.from(
  { length: 4096 },
  (_, bits) => ((ALPHABET[bits >> 6] as number) << 8) | (ALPHABET[bits & 0x3f] as number),
);

/** The number of characters for this many bytes. */
export const base64UrlLength = (bytes: number) => Math.ceil((4 * bytes) / 3);

/**
 * Writes bytes as base64url without padding (RFC 4648 section 5).
 *
 * @param from with at least three zero bytes after the input
 * @param length the number of bytes to take from the start of `from`
 * @param to with room for two more characters: up to two after the text are overwritten
 * @returns the position after the text
 */
export function writeBase64Url(from: DataView, length: number, to: DataView, at: number): number {
  for (let read = 0, write = at; read < length; read += 3, write += 4) {
    const bits = from.getInt32(read) >>> 8;
    to.setInt32(write, ((PAIRS[bits >> 12] as number) << 16) | (PAIRS[bits & 0xfff] as number));
  }
  return at + base64UrlLength(length);
}
