import { ESCAPES, codePointAt } from './json-escapes.ts';
import { isLineSeparator, lineSeparatorAt } from './line-separators.ts';
import { malformed } from './page.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const NULL = new TextEncoder().encode('null');

/** The first byte of U+0085 in UTF-8, and of U+2028 and U+2029. */
const C2 = 0xc2;
const E2 = 0xe2;

/** Bytes of a JSON string that need attention. Control characters are not allowed there (RFC 8259 section 7). */
const SPECIAL = new Uint8Array(256).fill(1, 0, 0x20);
for (const byte of [QUOTE, BACKSLASH, C2, E2]) SPECIAL[byte] = 1;

/** The positions of a row's cells in the bytes of a page. Each cell is a JSON string, with its quotes, or null. */
export class RowCells {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The position of each cell, by column. */
  readonly starts: Int32Array;
  /** The position after each cell. */
  readonly ends: Int32Array;
  /** The number of line separators (see line-separators.ts) in the row, escaped or not. */
  lineSeparators = 0;

  /**
   * @param bytes compact JSON
   * @param columns the number of cells every row must have
   */
  constructor(bytes: Uint8Array<ArrayBuffer>, columns: number) {
    this.bytes = bytes;
    this.starts = new Int32Array(columns);
    this.ends = new Int32Array(columns);
  }

  /**
   * Finds the cells of a row.
   *
   * @param at the position of its `[`
   * @returns the position after its `]`
   * @throws MalformedPageError
   */
  find(at: number): number {
    const { bytes, starts, ends } = this;
    const columns = starts.length;
    let read = at;
    this.lineSeparators = 0;
    if (bytes[read++] !== OPEN_BRACKET) throw malformed(at);
    for (let column = 0; column < columns; column++) {
      starts[column] = read;
      read = bytes[read] === QUOTE ? endOfString(this, bytes, read + 1) : endOfNull(bytes, read);
      ends[column] = read;
      if (bytes[read++] !== (column < columns - 1 ? COMMA : CLOSE_BRACKET)) throw malformed(read - 1);
    }
    return read;
  }

  /** A cell's text, null for a null. */
  text(column: number): string | null {
    const cell = this.bytes.subarray(this.starts[column], this.ends[column]);
    return JSON.parse(new TextDecoder().decode(cell)) as string | null;
  }
}

/** @param at a position inside a string of the row. @returns the position after its closing quote */
function endOfString(row: RowCells, bytes: Uint8Array, at: number): number {
  let read = at;
  for (;;) {
    while (SPECIAL[bytes[read] as number] === 0) read++; // stops at the end, where there is no byte
    const special = bytes[read++];
    if (special === QUOTE) return read;
    if (special !== BACKSLASH) {
      noteSeparator(row, bytes, read - 1);
      continue;
    }
    const escape = bytes[read++] as number;
    if (escape !== QUOTE && ESCAPES[escape] === 0) {
      if (isLineSeparator(codePointAt(bytes, read - 2))) row.lineSeparators++; // throws if it is not an escape
      read += 4;
    }
  }
}

/** @throws MalformedPageError unless a line separator may start here */
function noteSeparator(row: RowCells, bytes: Uint8Array, at: number): void {
  if (lineSeparatorAt(bytes, at) !== 0) row.lineSeparators++;
  else if (bytes[at] !== C2 && bytes[at] !== E2) throw malformed(at);
}

/** @returns the position after the null that begins at `at` */
function endOfNull(bytes: Uint8Array, at: number): number {
  for (let i = 0; i < NULL.length; i++) if (bytes[at + i] !== NULL[i]) throw malformed(at + i);
  return at + NULL.length;
}
