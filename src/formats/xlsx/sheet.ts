import { AMPERSAND, LOWER_X, QUOTE, SPACE, UNDERSCORE, UPPER_A } from '../../encode/ascii.ts';
import { Constant, Output, utf8 } from '../../encode/bytes.ts';
import { isHexDigit } from '../../encode/json-escapes.ts';
import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import { notInWorksheet } from '../../http/errors.ts';
import { cellLength } from './measure.ts';

/*
 * The rows of a worksheet: from cells of CSV straight to bytes of SpreadsheetML (ECMA-376-1 section
 * 18.3.1), without an object per cell.
 *
 * Every row and cell has its position. It is optional, but without it R's openxlsx, Gnumeric,
 * xlsx2csv, ExcelJS and read-excel-file return no rows or fail.
 *
 * A cell is `<c r="A1" t="str"><v>…</v></c>`, since inline strings make the file a twentieth
 * larger. Only Excel decodes `_xHHHH_` in it, and ExcelJS decodes `&amp;lt;` twice. So a text with
 * an escape or an ampersand is an inline string, which they read like Excel. A text that begins or
 * ends with white space has `xml:space`, as in Excel's own files; otherwise LibreOffice, or in an
 * inline string Excel and calamine, trim it.
 */

/**
 * Excel's limits:
 * https://support.microsoft.com/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
 */
export const MAX_ROWS = 1_048_576;
/** In UTF-16 code units. */
export const MAX_CELL_LENGTH = 32_767;

/** The rows without the header. */
export const MAX_RECORDS = MAX_ROWS - 1;

/** What a worksheet cannot have, for errors. */
export const MANY_RECORDS = `more than ${MAX_RECORDS} records`;
export const LONG_CELL = `a cell of more than ${MAX_CELL_LENGTH} characters`;

const ROW = new Constant('<row r="');
const ROW_CELLS = new Constant('">');
const ROW_END = new Constant('</row>');
const CELL = new Constant('<c r="');
const POSITION_END = new Constant('"');
/** In bold: the second cell format in workbook.ts. Other cells have the first. */
const NAME_POSITION_END = new Constant('" s="1"');

/** How a cell holds its text. `openSpaced` is for a text that could be trimmed. */
const cellKind = (open: string, close: string) => ({
  open: new Constant(`${open}>`),
  openSpaced: new Constant(`${open} xml:space="preserve">`),
  close: new Constant(close),
});
const TEXT = cellKind(' t="str"><v', '</v></c>');
const INLINE = cellKind(' t="inlineStr"><is><t', '</t></is></c>');

const NUMBER_POSITION_END = new Constant('" s="2"><v>');
/**
 * A decimal number of at most 15 digits, which a double holds exactly. Excel reads no more of them.
 */
const NUMBER = /^-?(?!(?:\.?\d){16})(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** With a sign and a point. */
const MAX_NUMBER_LENGTH = 17;

/** The most bytes of a cell besides its text, with those that begin or end its row. */
const MAX_MARKUP = 120;
/** The most bytes that one of a text becomes: `_x0001_`. */
const MAX_EXPANSION = 7;

/** The first byte of U+2000 to U+2FFF, some of which LibreOffice trims. */
const E2 = 0xe2;
/** The first byte of U+F000 to U+FFFF. */
const EF = 0xef;

/**
 * Bytes that need more than a copy: control characters except tab and LF, and those of
 * {@link ENTITIES} and below.
 */
const SPECIAL = new Uint8Array(256).fill(1, 0, 0x20);
SPECIAL[0x09] = SPECIAL[0x0a] = 0;
SPECIAL[QUOTE] = SPECIAL[UNDERSCORE] = SPECIAL[EF] = 1;
/**
 * The entities of characters. XML parsers read a bare carriage return as a line feed (XML 1.0
 * section 2.11).
 */
const ENTITIES: (Constant | undefined)[] = [];
for (const [char, entity] of Object.entries({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
})) {
  ENTITIES[char.charCodeAt(0)] = new Constant(entity);
  SPECIAL[char.charCodeAt(0)] = 1;
}

const escapeOf = (char: number) =>
  new Constant(`_x${char.toString(16).toUpperCase().padStart(4, '0')}_`);

/** Writes records as the rows of a worksheet, the first one in bold. */
export class SheetWriter implements RecordWriter {
  readonly output = new Output();
  /**
   * The digits of the current row's number, from 1, which every cell repeats: an object for each
   * row would be much garbage.
   */
  readonly #row = utf8.encode(String(MAX_ROWS));
  #rowDigits = 1;
  /** The number of records before the current one, and of its cells so far. */
  #records = 0;
  #cells = 0;
  #hasBegun = false;
  readonly #areNumbers: readonly boolean[];

  /** @param areNumbers whether a column's cells are numbers where their texts are */
  constructor(areNumbers: readonly boolean[] = []) {
    this.#areNumbers = areNumbers;
  }

  /** @throws ApiError for a cell of more than {@link MAX_CELL_LENGTH} */
  cells(page: EncodedRows, from: number, to: number): void {
    for (let cell = from; cell < to; cell++) this.#cell(page, cell);
  }

  /** An empty cell has no element. */
  #cell(page: EncodedRows, cell: number): void {
    const { data: bytes, cells } = page;
    const column = this.#cells++;
    const start = cells[cell] as number;
    const end = (cells[cell + 1] as number) - 1;
    const quotes = bytes[start] === QUOTE ? 1 : 0;
    const from = start + quotes;
    const to = end - quotes;
    if (from >= to) return;

    if (to - from > MAX_CELL_LENGTH && cellLength(page, cell) > MAX_CELL_LENGTH)
      throw notInWorksheet(LONG_CELL);

    const { output } = this;
    output.reserve(MAX_MARKUP + MAX_EXPANSION * (to - from));
    if (!this.#hasBegun) this.#begin();
    CELL.write(output);
    writeColumn(output, column);
    output.write(this.#row, 0, this.#rowDigits);

    if (this.#records > 0 && this.#areNumbers[column] && isNumber(bytes, from, to)) {
      NUMBER_POSITION_END.write(output);
      output.write(bytes, from, to);
      TEXT.close.write(output);
      return;
    }

    (this.#records > 0 ? POSITION_END : NAME_POSITION_END).write(output);
    const { length } = output;
    if (writeText(output, bytes, from, to, TEXT)) return;
    output.length = length;
    writeText(output, bytes, from, to, INLINE);
  }

  skip(count: number): void {
    this.#cells += count;
  }

  /** @throws ApiError for a record beyond {@link MAX_ROWS} */
  endRecord(): void {
    this.#records++;
    if (this.#records > MAX_ROWS) throw notInWorksheet(MANY_RECORDS);

    this.output.reserve(MAX_MARKUP);
    if (!this.#hasBegun) this.#begin();
    ROW_END.write(this.output);

    this.#rowDigits = utf8.encodeInto(String(this.#records + 1), this.#row).written;
    this.#cells = 0;
    this.#hasBegun = false;
  }

  #begin(): void {
    ROW.write(this.output);
    this.output.write(this.#row, 0, this.#rowDigits);
    ROW_CELLS.write(this.output);
    this.#hasBegun = true;
  }
}

/**
 * Writes a column's letters: A to Z, AA to ZZ, AAA and further.
 *
 * @param column counted from 0
 */
function writeColumn(output: Output, column: number): void {
  if (column >= 26) writeColumn(output, Math.floor(column / 26) - 1);
  output.writeByte(UPPER_A + (column % 26));
}

function isNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_NUMBER_LENGTH) return false;
  return NUMBER.test(String.fromCharCode(...bytes.subarray(start, end)));
}

/** Whether a text may begin or end with white space: XML's, or that of U+2000 to U+2FFF. */
function mayBeTrimmed(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] as number;
  const last = bytes[end - 1] as number;

  return first <= SPACE || first === E2 || last <= SPACE || bytes[end - 3] === E2;
}

/**
 * Writes the text of a CSV cell, whose quotes are doubled.
 *
 * @returns false if it has to be an inline string
 */
function writeText(
  output: Output,
  bytes: Uint8Array,
  start: number,
  end: number,
  kind: typeof TEXT,
): boolean {
  (mayBeTrimmed(bytes, start, end) ? kind.openSpaced : kind.open).write(output);

  let at = copyPlain(output, bytes, start, end);
  while (at < end) {
    const byte = bytes[at] as number;
    const entity = ENTITIES[byte];
    let length = 1;

    if (entity) {
      if (kind === TEXT && byte === AMPERSAND) return false;
      entity.write(output);
    } else if (!isEscaped(bytes, at, end)) {
      output.writeByte(byte);
    } else if (kind === TEXT) {
      return false;
    } else if (byte === EF) {
      escapeOf(0xff40 + (bytes[at + 2] as number)).write(output);
      length = 3;
    } else {
      escapeOf(byte).write(output);
    }

    at = copyPlain(output, bytes, at + length, end);
  }

  kind.close.write(output);
  return true;
}

/**
 * Copies a text up to the next character that may need more than a copy. A call in this loop would
 * double its time.
 *
 * @returns the character's position, or `end`
 */
function copyPlain(output: Output, bytes: Uint8Array, start: number, end: number): number {
  const to = output.bytes;
  let { length } = output;
  let at = start;

  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (SPECIAL[byte] !== 0) {
      if (byte !== QUOTE) break;
      at++; // it is doubled
    }
    to[length++] = byte;
  }

  output.length = length;
  return at;
}

/**
 * Whether the special character at `at` must be written as `_xHHHH_` (ECMA-376-1 section
 * 22.9.2.19): XML 1.0 cannot hold it, or it begins what looks like such an escape. The last `_` of
 * that can be the first of the next character's own escape.
 */
function isEscaped(bytes: Uint8Array, at: number, end: number): boolean {
  const byte = bytes[at] as number;
  // U+FFFE and U+FFFF
  if (byte === EF) return bytes[at + 1] === 0xbf && (bytes[at + 2] as number) >= 0xbe;
  if (byte !== UNDERSCORE) return true;

  if (bytes[at + 1] !== LOWER_X || at + 6 >= end) return false;
  if (!bytes.subarray(at + 2, at + 6).every(isHexDigit)) return false;

  const next = bytes[at + 6] as number;
  if (next === UNDERSCORE) return true;
  if (SPECIAL[next] === 0 || next === QUOTE || ENTITIES[next]) return false;
  return isEscaped(bytes, at + 6, end);
}
