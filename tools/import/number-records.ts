import { BadLine } from './bad-line.ts';

const QUOTE = 0x22;
const CR = 0x0d;
const LF = 0x0a;

/**
 * The service sends at most 64 MB per page, so a longer record is no export: it has a quote that is never closed. Postgres
 * would collect the rest of the file in memory.
 */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/**
 * Inserts the line on which each CSV record begins as its first field, and ends every record with LF. COPY parses the fields.
 *
 * COPY alone is not enough: it reports the last line of a bad record, and it accepts `"a"b` and `a"b"` as `ab`. With the
 * line number, no record can be the end marker `\.` either, which COPY recognises up to Postgres 17.
 */
export class RecordNumberer {
  /** Records seen so far. */
  count = 0;
  readonly #separator: number;
  #line = 2;
  #recordLine = 2;
  #recordBytes = 0;
  #isRecordStart = true;
  #isQuoted = false;
  #previous = 0;

  /** @param delimiter one ASCII character */
  constructor(delimiter: string) {
    this.#separator = delimiter.charCodeAt(0);
  }

  /**
   * @param chunk the next bytes of the file after its header line, split anywhere
   * @throws BadLine for a misplaced quote, or a carriage return outside quotes without a line feed
   */
  push(chunk: Uint8Array): Buffer {
    // Local variables, because this loop visits every byte of the file.
    const separator = this.#separator;
    let isRecordStart = this.#isRecordStart;
    let isQuoted = this.#isQuoted;
    let previous = this.#previous;
    let line = this.#line;
    const output: Uint8Array[] = [];
    let copied = 0;
    let recordStart = -this.#recordBytes;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isRecordStart) {
        output.push(chunk.subarray(copied, at), Buffer.from(`${line}${String.fromCharCode(separator)}`));
        copied = at;
        recordStart = at;
        this.#recordLine = line;
        this.count += 1;
        isRecordStart = false;
        previous = separator;
      }
      if (byte === QUOTE) {
        if (!isQuoted && previous !== separator && previous !== QUOTE)
          throw this.#bad('there is a quote inside a field that does not start with one');
        isQuoted = !isQuoted;
      } else if (!isQuoted) {
        if (previous === CR && byte !== LF) throw this.#bad(LONE_CR);
        if (previous === QUOTE && byte !== separator && byte !== LF && byte !== CR)
          throw this.#bad('there is text after a closing quote (write a quote inside quotes as "")');
        if (byte === CR) {
          output.push(chunk.subarray(copied, at));
          copied = at + 1;
        }
        isRecordStart = byte === LF;
      }
      if (byte === LF) line += 1;
      previous = byte ?? 0;
    }
    output.push(chunk.subarray(copied));
    this.#line = line;
    this.#isRecordStart = isRecordStart;
    this.#isQuoted = isQuoted;
    this.#previous = previous;
    this.#recordBytes = chunk.length - recordStart;
    if (this.#recordBytes > MAX_RECORD_BYTES)
      throw this.#bad('is longer than 64 MiB: is a quote missing its closing quote?');
    return Buffer.concat(output);
  }

  /** @throws BadLine for a file that ends within quotes or on a lone carriage return */
  end(): void {
    if (this.#isQuoted) throw this.#bad('a quote is never closed');
    if (this.#previous === CR) throw this.#bad(LONE_CR);
  }

  #bad(reason: string): BadLine {
    return new BadLine(this.#recordLine, reason);
  }
}

const LONE_CR = 'there is a carriage return outside quotes that is not followed by a line feed';
