import { sha256Hex } from '../encode/bytes.ts';

/*
 * An API key is `sres_`, or `sresl_` for a limited key, 43 characters for 32 random bytes, and a
 * checksum of 6 characters. After the prefix there are only letters and digits, so that a double
 * click selects the whole key and secret scanners recognise it. Versions of the service that do not
 * know limits refuse the prefix of limited keys.
 *
 * The checksum is the CRC-32 (ISO 3309, as in gzip) of everything before it. It adds no security,
 * but a mistyped key is refused without a KV read or a query.
 */

const PREFIX = 'sres_';
const LIMITED_PREFIX = 'sresl_';
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43; // 62^43 > 2^256
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SHAPE = new RegExp(`^sresl?_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new key from the platform's cryptographic random number generator. Only its hash is stored, so
 * it cannot be shown again.
 */
export const generateApiKey = (): string => generate(PREFIX);

/** Likewise, for a key with which limits are stored. */
export const generateLimitedApiKey = (): string => generate(LIMITED_PREFIX);

function generate(prefix: string): string {
  const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const unchecked = prefix + base62(BigInt(`0x${secret.toHex()}`), SECRET_LENGTH);

  return unchecked + checksumOf(unchecked);
}

/** Whether a text has the shape of a key, whatever its checksum. */
export const hasKeyShape = (text: string): boolean => SHAPE.test(text);

/**
 * Whether a text has the shape of a key and the right checksum, whether or not such a key was
 * issued.
 */
export function isWellFormedApiKey(text: string): boolean {
  return hasKeyShape(text) && text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Whether a key must have limits. Any other must have none. */
export const isLimitedApiKey = (key: string): boolean => key.startsWith(LIMITED_PREFIX);

/**
 * The part of a key that lists show, to recognise it by: the fixed prefix and four more characters.
 */
export const apiKeyPrefix = (key: string): string => key.slice(0, key.indexOf('_') + 5);

/**
 * The stored form of a key, in `api_keys.hash` and as KV key: the SHA-256 of the whole key,
 * lowercase hexadecimal.
 */
export const hashApiKey = (key: string): Promise<string> => sha256Hex(key);

const checksumOf = (text: string) => base62(BigInt(crc32(text)), CHECKSUM_LENGTH);

function base62(number: bigint, length: number): string {
  let text = '';
  let rest = number;
  while (text.length < length) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
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
