import { Output } from '../../encode/bytes.ts';
import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';

/*
 * The rows of a worksheet: from cells of CSV straight to bytes of SpreadsheetML (ECMA-376-1 section 18.3.1), without an object
 * per cell.
 *
 * A cell is `<c t="str"><v>…</v></c>`, without its position: positions make the file three times as large, inline strings a tenth
 * larger. In such a cell, only Excel decodes `_xHHHH_`, and LibreOffice trims the text. So a text that needs an escape, or begins
 * or ends with white space, is an inline string, which LibreOffice and readxl read like Excel.
 */

/** Excel's limits: https://support.microsoft.com/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3 */
export const MAX_ROWS = 1_048_576;
/** In UTF-16 code units. */
export const MAX_CELL_LENGTH = 32_767;

/** A record does not fit in a worksheet. */
export class SheetLimitError extends Error {
  override name = 'SheetLimitError';
}

const utf8 = new TextEncoder();
const ROW = utf8.encode('<row>');
const ROW_END = utf8.encode('</row>');
const EMPTY_ROW = utf8.encode('<row/>');
const EMPTY = utf8.encode('<c/>');
const TEXT = { open: utf8.encode('<c t="str"><v>'), close: utf8.encode('</v></c>') };
const INLINE = {
  open: utf8.encode('<c t="inlineStr"><is><t xml:space="preserve">'),
  close: utf8.encode('</t></is></c>'),
};
const ESCAPE = utf8.encode('_x');
const HEX = utf8.encode('0123456789ABCDEF');

/** Bytes of a cell besides its text, at most. */
const MAX_MARKUP = 100;
/** Bytes written for one byte of text, at most: those of `_x0001_`. */
const MAX_EXPANSION = 7;

const QUOTE = 0x22;
const SPACE = 0x20;
const UNDERSCORE = 0x5f;
const LOWER_X = 0x78;
/** The first byte of U+2000 to U+2FFF, some of which LibreOffice trims. */
const E2 = 0xe2;
/** The first byte of U+F000 to U+FFFF. */
const EF = 0xef;

/** Bytes that need more than a copy: control characters except tab and LF, and those of {@link ENTITIES} and below. */
const SPECIAL = new Uint8Array(256).fill(1, 0, 0x20);
SPECIAL[0x09] = SPECIAL[0x0a] = 0;
SPECIAL[QUOTE] = SPECIAL[UNDERSCORE] = SPECIAL[EF] = 1;
/** By character. A carriage return would otherwise be read as a line feed (XML 1.0 section 2.11). */
const ENTITIES: (Uint8Array | undefined)[] = [];
for (const [char, entity] of [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\r', '&#13;'],
] as const) {
  ENTITIES[char.charCodeAt(0)] = utf8.encode(entity);
  SPECIAL[char.charCodeAt(0)] = 1;
}

/** Writes records as the rows of a worksheet. */
export class SheetWriter implements RecordWriter {
  readonly #output = new Output();
  #records = 0;
  /** The cells of the record so far, and how many of them, at its end, are empty and have not been written. */
  #cells = 0;
  #empty = 0;

  /** @throws SheetLimitError for a cell of more than {@link MAX_CELL_LENGTH} */
  cells({ data, cells }: EncodedRows, from: number, to: number): void {
    for (let cell = from; cell < to; cell++) this.#cell(data, cells[cell] as number, (cells[cell + 1] as number) - 1);
  }

  #cell(bytes: Uint8Array, start: number, end: number): void {
    const quotes = bytes[start] === QUOTE ? 1 : 0;
    const from = start + quotes;
    const to = end - quotes;
    if (from >= to) return this.skip(1);
    if (to - from > MAX_CELL_LENGTH && lengthOf(bytes, from, to) > MAX_CELL_LENGTH) {
      throw new SheetLimitError(`a cell of more than ${MAX_CELL_LENGTH} characters`);
    }
    const output = this.#output;
    output.reserve(MAX_MARKUP + EMPTY.length * this.#empty + MAX_EXPANSION * (to - from));
    if (this.#cells === this.#empty) append(output, ROW);
    for (; this.#empty > 0; this.#empty--) append(output, EMPTY);
    this.#cells++;
    if (mayBeTrimmed(bytes, from, to) || !writeText(output, bytes, from, to)) writeInline(output, bytes, from, to);
  }

  skip(count: number): void {
    this.#cells += count;
    this.#empty += count;
  }

  /** @throws SheetLimitError for a record beyond {@link MAX_ROWS} */
  endRecord(): void {
    if (++this.#records > MAX_ROWS) throw new SheetLimitError(`more than ${MAX_ROWS} records`);
    this.#output.reserve(MAX_MARKUP);
    append(this.#output, this.#cells === this.#empty ? EMPTY_ROW : ROW_END);
    this.#cells = this.#empty = 0;
  }

  take(): Uint8Array {
    return this.#output.take();
  }

  get length(): number {
    return this.#output.length;
  }
}

/** The length in UTF-16 of a cell's text, whose quotes are doubled. */
function lengthOf(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at++;
    if ((byte & 0xc0) !== 0x80) length += byte < 0xf0 ? 1 : 2;
  }
  return length;
}

/** Whether a text begins or ends with white space, perhaps: XML's, or that of U+2000 to U+2FFF. */
function mayBeTrimmed(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] as number;
  return first <= SPACE || first === E2 || (bytes[end - 1] as number) <= SPACE || bytes[end - 3] === E2;
}

/** Writes a cell. @returns false, having written nothing, if its text has to be an inline string */
function writeText(output: Output, bytes: Uint8Array, start: number, end: number): boolean {
  const to = output.bytes;
  let { length } = output;
  for (let i = 0; i < TEXT.open.length; i++) to[length++] = TEXT.open[i] as number;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (SPECIAL[byte] !== 0) {
      if (byte === QUOTE) {
        at++; // it is doubled
      } else if (ENTITIES[byte]) {
        const entity = ENTITIES[byte];
        for (let i = 0; i < entity.length; i++) to[length++] = entity[i] as number;
        continue;
      } else if (isEscaped(bytes, at, end)) {
        return false;
      }
    }
    to[length++] = byte;
  }
  for (let i = 0; i < TEXT.close.length; i++) to[length++] = TEXT.close[i] as number;
  output.length = length;
  return true;
}

/** Writes a cell as an inline string. */
function writeInline(output: Output, bytes: Uint8Array, start: number, end: number): void {
  append(output, INLINE.open);
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    const entity = ENTITIES[byte];
    if (entity) {
      append(output, entity);
    } else if (SPECIAL[byte] !== 0 && byte !== QUOTE && isEscaped(bytes, at, end)) {
      const isNonCharacter = byte === EF;
      writeEscape(output, isNonCharacter ? 0xff00 + 0x40 + (bytes[at + 2] as number) : byte);
      if (isNonCharacter) at += 2;
    } else {
      if (byte === QUOTE) at++; // it is doubled
      output.writeByte(byte);
    }
  }
  append(output, INLINE.close);
}

/**
 * Whether the character at `at`, which is special, must be written as `_xHHHH_` (ECMA-376-1 section 22.9.2.19): XML 1.0 cannot
 * hold it, or it begins such an escape, perhaps with the first byte of the next character's own.
 */
function isEscaped(bytes: Uint8Array, at: number, end: number): boolean {
  const byte = bytes[at] as number;
  if (byte === EF) return bytes[at + 1] === 0xbf && (bytes[at + 2] as number) >= 0xbe; // U+FFFE and U+FFFF
  if (byte !== UNDERSCORE) return true;
  if (bytes[at + 1] !== LOWER_X || at + 6 >= end) return false;
  for (let i = at + 2; i < at + 6; i++) if (!isHexDigit(bytes[i] as number)) return false;
  const next = bytes[at + 6] as number;
  if (next === UNDERSCORE) return true;
  return SPECIAL[next] !== 0 && next !== QUOTE && !ENTITIES[next] && isEscaped(bytes, at + 6, end);
}

function isHexDigit(byte: number): boolean {
  const letter = byte & 0xdf; // upper case
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x41 && letter <= 0x46);
}

function writeEscape(output: Output, char: number): void {
  append(output, ESCAPE);
  for (let shift = 12; shift >= 0; shift -= 4) output.writeByte(HEX[(char >> shift) & 15] as number);
  output.writeByte(UNDERSCORE);
}

function append(output: Output, part: Uint8Array): void {
  for (let i = 0; i < part.length; i++) output.writeByte(part[i] as number);
}
