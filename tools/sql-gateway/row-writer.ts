const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const NULL = Buffer.from('null');
const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 512 * 1024;

/** The escapes in JSON strings, by the byte they stand for. The longest have six bytes: `\u001f`. */
const ESCAPES = Array.from({ length: BACKSLASH + 1 }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
);

/**
 * Writes rows as JSON arrays of text, from the bytes of Postgres to the bytes of the response. A large result spends most of its
 * time here; with values as JavaScript strings in between, it would take twice as long.
 */
export class RowWriter {
  readonly #full: Buffer[] = [];
  #fullLength = 0;
  #chunk = Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES);
  #position = 0;

  /** Length of what was written, in bytes. */
  get length(): number {
    return this.#fullLength + this.#position;
  }

  /** The rows, separated by commas. */
  chunks(): Buffer[] {
    return [...this.#full, this.#chunk.subarray(0, this.#position)];
  }

  /**
   * Adds a row.
   *
   * @param message holds the body of a DataRow from `start` to `end`: the number of columns in two bytes, then for each its
   *   length in four (-1 for null) and its value. https://www.postgresql.org/docs/current/protocol-message-formats.html
   */
  add(message: Buffer, start: number, end: number): void {
    this.#reserve(6 * (end - start)); // enough if every byte is escaped; lengths take more than quotes and commas
    const chunk = this.#chunk;
    let at = this.#position;
    if (this.length > 0) chunk[at++] = COMMA;
    chunk[at++] = OPEN;
    for (let from = start + 2; from < end;) {
      if (from > start + 2) chunk[at++] = COMMA;
      const length = message.readInt32BE(from);
      from += 4;
      if (length < 0) {
        at += NULL.copy(chunk, at);
        continue;
      }
      chunk[at++] = QUOTE;
      for (const to = from + length; from < to; from++) {
        const byte = message[from] ?? 0;
        if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) chunk[at++] = byte;
        else at += ESCAPES[byte]?.copy(chunk, at) ?? 0;
      }
      chunk[at++] = QUOTE;
    }
    chunk[at++] = CLOSE;
    this.#position = at;
  }

  #reserve(bytes: number): void {
    if (this.#position + bytes <= this.#chunk.length) return;
    this.#full.push(this.#chunk.subarray(0, this.#position));
    this.#fullLength += this.#position;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes)); // memory that is never written to is never allocated
    this.#position = 0;
  }
}
