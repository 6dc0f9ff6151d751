import { BACKSLASH, CLOSE_BRACKET, COMMA, QUOTE, SPACE } from './ascii.ts';
import { type Output, viewOf } from './bytes.ts';
import {
  ESCAPES,
  SEPARATOR_ESCAPES,
  codePointAt,
  lineSeparatorAt,
  writeUtf8,
} from './json-escapes.ts';
import { malformed } from './rows.ts';
import { endOfTime, formatTime } from './time.ts';

/** The bytes of `null` as a little-endian integer. */
const NULL = 0x6c6c756e;

/**
 * The cells of a page's rows: JSON strings, with their quotes, or nulls. Columns are counted from
 * 0.
 */
export class RowCells {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView;
  /** The position of the next byte. */
  read: number;
  /** The next cell's column. */
  column = 0;
  /** The position of each cell of the row that was read, by column. */
  readonly starts: Int32Array;
  /** The position after each cell. */
  readonly ends: Int32Array;

  readonly #timeColumn: number | undefined;

  /**
   * @param columns the number of cells every row must have
   * @param timeColumn the one that is a time: see time.ts
   */
  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    read: number,
    columns: number,
    timeColumn: number | undefined,
  ) {
    this.bytes = bytes;
    this.#timeColumn = timeColumn;
    this.view = viewOf(bytes);
    this.read = read;
    this.starts = new Int32Array(columns);
    this.ends = new Int32Array(columns);
  }

  /** The length of what has not been read. */
  get remainingBytes(): number {
    return this.bytes.length - this.read;
  }

  /** Reads a byte that has to be this one. @throws Error: see {@link malformed} */
  expect(byte: number): void {
    if (this.bytes[this.read++] !== byte) throw malformed(this.read - 1);
  }

  /** A cell's text, null for a null. */
  text(column: number): string | null {
    const cell = this.bytes.subarray(this.starts[column], this.ends[column]);
    return JSON.parse(new TextDecoder().decode(cell)) as string | null;
  }

  /**
   * Reads the next cell, and writes it with its line separators escaped.
   *
   * @param isJson whether to write the JSON that a string contains: its text, unescaped. Line
   * breaks become spaces, so that an object stays on one line: Postgres prints jsonb without line
   * breaks, but a column of type json as it was written.
   * @param output has room for the rest of the page
   * @param room the bytes to reserve again, besides those for the rest of the page, when an escape
   * is longer than its line separator
   * @throws Error: see {@link malformed}
   */
  writeNext(isJson: boolean, output: Output, room: number): void {
    const skipped = this.column === this.#timeColumn ? this.#formatTime() : 0;
    const { bytes, view } = this;
    let { read } = this;
    // After a cell, three more bytes can be read: two brackets and a brace follow at least.
    const last = bytes.length - 4;
    let { bytes: to, view: toView, length: write } = output;
    this.starts[this.column] = read;

    if (bytes[read] === QUOTE) {
      read++;
      if (!isJson) to[write++] = QUOTE;

      for (;;) {
        if (read > last) throw malformed(read);
        const four = view.getInt32(read, true);
        toView.setInt32(write, four, true);
        const special = specialBytes(four);
        if (special === 0) {
          read += 4;
          write += 4;
          continue;
        }

        const plain = firstOf(special);
        read += plain;
        write += plain;
        const byte = bytes[read] as number;
        if (byte === QUOTE) break;

        let separator = 0;
        if (byte === BACKSLASH) {
          const escape = bytes[read + 1] as number;
          if (isJson && escape === QUOTE) {
            to[write++] = QUOTE; // by far the most frequent
            read += 2;
            continue;
          }

          let char = ESCAPES[escape] as number;
          let end = read + 2;
          if (char === 0 && escape !== QUOTE) {
            char = codePointAt(bytes, read); // throws if it is not an escape
            end = read + (char > 0xffff ? 12 : 6);
          }

          if (!isJson) while (read < end) to[write++] = bytes[read++] as number;
          else if (SEPARATOR_ESCAPES.has(char)) separator = char;
          else if (char >= 0x80) write = writeUtf8(to, write, char);
          // a control character between tokens, where a space does (RFC 8259 section 2)
          else to[write++] = Math.max(SPACE, char);
          read = end;
        } else if (byte >= 0x80) {
          separator = lineSeparatorAt(bytes, read);
          do {
            if (separator === 0) to[write++] = bytes[read] as number;
            read++;
          } while (((bytes[read] as number) & 0xc0) === 0x80);
        } else {
          throw malformed(read);
        }

        if (separator !== 0) {
          output.length = write;
          output.reserve(6 + room + bytes.length - read);
          output.write(SEPARATOR_ESCAPES.get(separator) as Uint8Array);
          ({ bytes: to, view: toView, length: write } = output);
        }
      }
      read++;
      if (!isJson) write++; // the quote has been written
    } else {
      if (read > last || view.getInt32(read, true) !== NULL) throw malformed(read);
      toView.setInt32(write, NULL, true);
      read += 4;
      write += 4;
    }

    if (read > last + 1) throw malformed(read);
    output.length = write;
    this.read = read;
    this.ends[this.column] = read;
    this.column++;
    this.expect(this.column < this.ends.length ? COMMA : CLOSE_BRACKET);
    this.read += skipped;
  }

  /** Formats the next cell, a time, in its place. @returns by how many bytes it is shorter then */
  #formatTime(): number {
    const { bytes } = this;
    const start = this.read + 1;
    const end = endOfTime(bytes, start);
    const newEnd = formatTime(bytes, start, end, start);
    bytes[newEnd] = QUOTE;
    bytes[newEnd + 1] = bytes[end + 1] as number; // the comma or bracket that follows
    return end - newEnd;
  }
}

/**
 * Finds the first byte of a JSON string that cannot just be copied: a quote, a backslash, a control
 * character, which is not allowed there (RFC 8259 section 7), or a byte that is not ASCII.
 *
 * @param four four bytes as a little-endian integer
 * @returns 0x80 in the first such byte; bytes after it are undefined; 0 if there is none
 */
function specialBytes(four: number): number {
  // A subtraction sets the highest bit of a byte that is smaller than what is subtracted. XOR with
  // 0x02 makes a quote 0x20, so that one subtraction finds it and the control characters.
  const controls = (four ^ 0x02020202) - 0x21212121;
  const backslashes = (four ^ 0x5c5c5c5c) - 0x01010101;

  return (controls | backslashes | four) & 0x80808080;
}

/** The index, from 0, of the first of {@link specialBytes}. */
const firstOf = (special: number): number => (31 - Math.clz32(special & -special)) >> 3;
