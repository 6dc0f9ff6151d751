import { base64UrlLength, writeBase64Url } from './base64url.ts';
import { Output } from './bytes.ts';
import { ByteMap } from './byte-map.ts';
import { ESCAPES, codePointAt, writeUtf8 } from './json-escapes.ts';
import { withoutLineSeparators } from './line-separators.ts';
import { malformed } from './page.ts';
import type { RowCells } from './row-cells.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

const utf8 = new TextEncoder();
const NULL = utf8.encode('null');

/** A member's value, made from a row's cells. Columns are counted from 0. */
export interface MemberValue {
  /** The most bytes that `write` may write. */
  room(row: RowCells): number;
  /** Writes the value. The caller has reserved the room. */
  write(row: RowCells, output: Output): void;
}

abstract class ColumnValue implements MemberValue {
  readonly column: number;

  constructor(column: number) {
    this.column = column;
  }

  room(row: RowCells): number {
    return cellLength(row, this.column);
  }

  abstract write(row: RowCells, output: Output): void;
}

/** A column's text as a JSON string. */
export class StringValue extends ColumnValue {
  write({ bytes, starts, ends }: RowCells, output: Output): void {
    output.write(bytes, starts[this.column], ends[this.column]);
  }
}

/** A column's text as JSON, as Postgres prints jsonb: numbers keep every digit. */
export class JsonValue extends ColumnValue {
  write({ bytes, starts, ends }: RowCells, output: Output): void {
    const start = starts[this.column] as number;
    const end = ends[this.column] as number;
    if (bytes[start] === QUOTE) writeText(bytes, start + 1, end - 1, output);
    else output.write(NULL);
  }
}

/** The string that a table has for a column's text. The query returns no texts that are not in the table. */
export class LookupValue implements MemberValue {
  readonly column: number;
  readonly table: ByteMap<Uint8Array>;
  readonly longest: number;

  /** @param table by keys without characters that JSON escapes */
  constructor(column: number, table: ReadonlyMap<string, string>) {
    const texts = Array.from(
      table,
      ([key, text]) => [key, utf8.encode(withoutLineSeparators(JSON.stringify(text)))] as const,
    );
    this.column = column;
    this.table = new ByteMap(texts);
    this.longest = Math.max(0, ...texts.map(([, { length }]) => length));
  }

  room(): number {
    return this.longest;
  }

  /** @throws MalformedPageError */
  write({ bytes, starts, ends }: RowCells, output: Output): void {
    const start = starts[this.column] as number;
    const text = this.table.get(bytes, start + 1, (ends[this.column] as number) - 1);
    if (!text) throw malformed(start);
    output.write(text);
  }
}

/** A token (see responses/cursor.ts): base64url of a JSON array of a number and the texts of columns that are not null. */
export class TokenValue implements MemberValue {
  readonly columns: readonly number[];
  readonly beginning: Uint8Array;
  readonly array = new Output();

  constructor(number: number, columns: readonly number[]) {
    this.beginning = utf8.encode(`[${number}`);
    this.columns = columns;
  }

  room(row: RowCells): number {
    return '""'.length + base64UrlLength(this.#arrayLength(row));
  }

  write(row: RowCells, output: Output): void {
    const { array } = this;
    array.length = 0;
    array.reserve(this.#arrayLength(row));
    array.write(this.beginning);
    for (const column of this.columns) {
      array.writeByte(COMMA);
      array.write(row.bytes, row.starts[column], row.ends[column]);
    }
    array.writeByte(CLOSE_BRACKET);
    output.writeByte(QUOTE);
    output.length = writeBase64Url(array.bytes, array.length, output.bytes, output.length);
    output.writeByte(QUOTE);
  }

  #arrayLength(row: RowCells): number {
    let length = this.beginning.length + 1;
    for (const column of this.columns) length += 1 + cellLength(row, column);
    return length;
  }
}

function cellLength({ starts, ends }: RowCells, column: number): number {
  return (ends[column] as number) - (starts[column] as number);
}

/**
 * Writes the JSON that a string contains: the text between its quotes, unescaped. Line breaks become spaces, so that an object
 * stays on one line: Postgres prints jsonb without line breaks, but a column of type json as it was written.
 */
function writeText(bytes: Uint8Array, start: number, end: number, output: Output): void {
  for (let read = start; ;) {
    const run = read;
    while (read < end && bytes[read] !== BACKSLASH) read++;
    output.write(bytes, run, read);
    if (read === end) return;

    const escape = bytes[read + 1] as number;
    if (escape === QUOTE) {
      output.writeByte(QUOTE); // by far the most frequent
      read += 2;
    } else if (ESCAPES[escape] !== 0) {
      output.writeByte(onOneLine(ESCAPES[escape] as number));
      read += 2;
    } else {
      const char = onOneLine(codePointAt(bytes, read));
      if (char < 0x80) output.writeByte(char);
      else output.length = writeUtf8(output.bytes, output.length, char);
      read += char > 0xffff ? 12 : 6;
    }
  }
}

/** JSON allows control characters only as whitespace between tokens, where a space does as well (RFC 8259 section 2). */
const onOneLine = (char: number): number => Math.max(SPACE, char);
