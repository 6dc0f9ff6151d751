/*
 * FarmHash's Fingerprint32 of at most 12 bytes: https://github.com/google/farmhash,
 * farmhashmk::Hash32. Longer texts have other branches, which are not here.
 */

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

const rotate = (value: number, by: number) => (value >>> by) | (value << (32 - by));

function mix(h: number): number {
  let mixed = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function murmur(a: number, h: number): number {
  const mixed = rotate(h ^ Math.imul(rotate(Math.imul(a, C1), 17), C2), 19);
  return (Math.imul(mixed, 5) + 0xe6546b64) | 0;
}

/** Four bytes as a little-endian integer. */
const fourAt = (text: string, at: number): number =>
  text.charCodeAt(at) |
  (text.charCodeAt(at + 1) << 8) |
  (text.charCodeAt(at + 2) << 16) |
  (text.charCodeAt(at + 3) << 24);

/** @param text ASCII of at most 12 characters. @returns an unsigned integer of 32 bits */
export function fingerprint32(text: string): number {
  const { length } = text;
  if (length > 4) {
    const first = murmur(length + fourAt(text, 0), 5 * length);
    const second = murmur(5 * length + fourAt(text, length - 4), first);
    return mix(murmur(9 + fourAt(text, (length >> 1) & 4), second));
  }

  let b = 0;
  let c = 9;
  for (let i = 0; i < length; i++) {
    b = (Math.imul(b, C1) + text.charCodeAt(i)) | 0;
    c ^= b;
  }
  return mix(murmur(b, murmur(length, c)));
}
