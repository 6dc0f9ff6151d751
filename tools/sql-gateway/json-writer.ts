const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = Buffer.from('0123456789abcdef');
const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 512 * 1024;

/** A byte inside a string takes at most six: `\u001f`. */
const MOST_BYTES = 6;

/** Longer strings are measured first, to not take six times their length. */
const LONG_STRING_BYTES = 16 * 1024;

/** Writes UTF-8 JSON into chunks of memory. Does not know what belongs where: that is the caller's affair. */
export class JsonWriter {
  readonly #full: Buffer[] = [];
  #fullLength = 0;
  #chunk = Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES);
  #at = 0;

  /** In bytes. */
  get length(): number {
    return this.#fullLength + this.#at;
  }

  /** What has been written. */
  chunks(): Buffer[] {
    return [...this.#full, this.#chunk.subarray(0, this.#at)];
  }

  /** Writes JSON as it is. */
  raw(json: string): void {
    this.bytes(Buffer.from(json));
  }

  /** Writes JSON that is UTF-8 already. */
  bytes(json: Buffer): void {
    this.#reserve(json.length);
    const chunk = this.#chunk;
    for (const byte of json) chunk[this.#at++] = byte;
  }

  /** Writes a string whose UTF-8 bytes are in `source` from `start` to `end`. This is where the time of a large result goes. */
  string(source: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#reserve(2 + (length > LONG_STRING_BYTES ? escapedLength(source, start, end) : length * MOST_BYTES));
    const chunk = this.#chunk;
    let at = this.#at;
    chunk[at++] = QUOTE;
    for (let i = start; i < end; i++) {
      const byte = source[i] ?? 0;
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) chunk[at++] = byte;
      else at = escape(chunk, at, byte);
    }
    chunk[at++] = QUOTE;
    this.#at = at;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#chunk.length) return;
    this.#full.push(this.#chunk.subarray(0, this.#at));
    this.#fullLength += this.#at;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, more));
    this.#at = 0;
  }
}

/** The short escapes of RFC 8259, section 7, by the byte they stand for. */
const SHORT = new Map(
  Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13, '"': QUOTE, '\\': BACKSLASH }).map(([letter, byte]) => [
    byte,
    letter.charCodeAt(0),
  ]),
);

function escape(bytes: Buffer, start: number, byte: number): number {
  let at = start;
  bytes[at++] = BACKSLASH;
  const short = SHORT.get(byte);
  if (short !== undefined) {
    bytes[at++] = short;
    return at;
  }
  at += bytes.write('u00', at, 'latin1');
  bytes[at++] = HEX[byte >> 4] ?? 0;
  bytes[at++] = HEX[byte & 15] ?? 0;
  return at;
}

/** At most this many bytes, without the quotes. */
function escapedLength(source: Buffer, start: number, end: number): number {
  let length = end - start;
  for (let i = start; i < end; i++) {
    const byte = source[i] ?? 0;
    if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) length += MOST_BYTES - 1;
  }
  return length;
}
