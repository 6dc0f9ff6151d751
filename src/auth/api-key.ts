import { sha256Hex } from '../encode/sha256.ts';

/*
 * An API key: `sres_`, 43 characters for 32 random bytes, 6 characters of checksum; 54 in all, letters and digits behind
 * the prefix, so that a double click selects the whole and secret scanners can recognise it.
 *
 * The checksum is the CRC-32 (ISO 3309, the one of gzip) of everything before it. It keeps nobody out: it lets a typo be
 * refused without asking anybody.
 */

const PREFIX = 'sres_';
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43; // 62^43 > 2^256
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key from the platform's cryptographic random number generator. It cannot be had again: only its hash is stored. */
export function generateApiKey(): string {
  const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const number = secret.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const body = PREFIX + base62(number, SECRET_LENGTH);
  return body + base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** Whether the text has the form of a key and its checksum is right. Says nothing about whether such a key was issued. */
export function isWellFormedApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** The part of a key by which people recognise it in a list: the fixed prefix and four characters of 43. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX.length + 4);
}

/** What is stored of a key, in `api_keys.hash` and as its KV key: the lower-case hexadecimal SHA-256 of all of it. */
export const hashApiKey = (key: string): Promise<string> => sha256Hex(key);

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
}

function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
