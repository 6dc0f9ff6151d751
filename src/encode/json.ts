import type { MemberValue } from './json-values.ts';
import { Output } from './bytes.ts';
import { ESCAPE_GROWTH, escapeLineSeparators } from './line-separators.ts';
import { type EncodedPage, type EncodedRows, type PageColumns, encodePage, malformed } from './page.ts';
import { RowCells } from './row-cells.ts';

/*
 * The JSON encoder: from the bytes of a SQL-over-HTTP response straight to the bytes of JSON objects. Nothing is parsed: a
 * cell is already a JSON string or null, and is copied. Only line separators are escaped, so that no line splitter cuts an object.
 */

/** The text around each object. */
export interface ObjectFrame {
  readonly before?: string;
  readonly after?: string;
}

/** How rows become objects. */
export interface ObjectLayout extends ObjectFrame {
  readonly members: readonly (readonly [name: string, value: MemberValue])[];
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** The most growth, from rows to objects with names, that room is reserved for. The buffer can grow further. */
const MAX_GROWTH = 2;

const utf8 = new TextEncoder();

/** Encodes pages of rows as objects of a layout. */
export class ObjectEncoder {
  readonly #members: readonly { readonly name: Uint8Array; readonly value: MemberValue }[];
  readonly #end: Uint8Array;
  /** The length of an object without its values. */
  readonly #frameLength: number;

  constructor({ members, before = '', after = '' }: ObjectLayout) {
    this.#members = members.map(([name, value], i) => ({
      name: utf8.encode(`${i === 0 ? `${before}{` : ','}${JSON.stringify(name)}:`),
      value,
    }));
    this.#end = utf8.encode(`}${after}`);
    this.#frameLength = this.#members.reduce((sum, { name }) => sum + name.length, this.#end.length);
  }

  /**
   * Encodes the body of a SQL-over-HTTP response as objects.
   *
   * @param body compact JSON with rows as arrays of text
   * @param name the name that the last column must have
   * @throws MalformedPageError if the body is truncated or malformed
   */
  encode(body: Uint8Array<ArrayBuffer>, columns: PageColumns, name: string): EncodedPage {
    return encodePage(body, columns, name, (start) => this.#encodeRows(body, start, columns));
  }

  #encodeRows(
    bytes: Uint8Array<ArrayBuffer>,
    start: number,
    { columns, keyColumns, checked = false }: PageColumns,
  ): EncodedRows {
    let read = start + 1;
    let rowCount = 0;
    if (bytes[start] !== OPEN_BRACKET) throw malformed(start);
    if (bytes[read] === CLOSE_BRACKET) {
      return {
        data: new Uint8Array(0),
        cells: new Int32Array(0),
        rowCount,
        lastKey: [],
        end: read + 1,
        check: undefined,
      };
    }

    const row = new RowCells(bytes, columns + Number(checked));
    const output = new Output();
    for (let next = COMMA; next === COMMA; next = bytes[read++] as number) {
      const rowStart = read;
      read = row.find(read);
      this.#writeObject(row, output);
      if (rowCount === 0 && bytes[read] === COMMA) {
        const growth = Math.min(MAX_GROWTH, output.length / (read - rowStart));
        output.reserve(Math.ceil(growth * (bytes.length - read)));
      }
      rowCount++;
    }

    if (bytes[read - 1] !== CLOSE_BRACKET) throw malformed(read - 1);
    const lastKey = keyColumns.map((column) => row.text(column));
    const check = checked ? row.text(columns) : undefined;
    return { data: output.written, cells: new Int32Array(0), rowCount, lastKey, end: read, check };
  }

  #writeObject(row: RowCells, output: Output): void {
    const { lineSeparators } = row;
    let room = this.#frameLength + lineSeparators * ESCAPE_GROWTH;
    for (const { value } of this.#members) room += value.room(row);
    output.reserve(room);
    const start = output.length;
    for (const { name, value } of this.#members) {
      output.write(name);
      value.write(row, output);
    }
    output.write(this.#end);
    if (lineSeparators > 0) escapeLineSeparators(output, start, lineSeparators);
  }
}
