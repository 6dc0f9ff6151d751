import { Output } from './bytes.ts';
import { BEYOND, Constant, type MemberValue } from './json-values.ts';
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
/** Bytes of objects per byte of rows: the estimate for the first page. The buffer can grow further. */
const USUAL_GROWTH = 2;

/** Encodes pages of rows as objects of a layout. */
export class ObjectEncoder {
  readonly #members: readonly { readonly name: Constant; readonly value: MemberValue }[];
  readonly #end: Constant;
  /** The length of an object without its values, and what is written beyond its end. */
  readonly #frameLength: number;
  /** Bytes of objects per byte of rows: a little more than in the last page. */
  #growth = USUAL_GROWTH;

  constructor({ members, before = '', after = '' }: ObjectLayout) {
    this.#members = members.map(([name, value], i) => ({
      name: new Constant(`${i === 0 ? `${before}{` : ','}${JSON.stringify(name)}:`),
      value,
    }));
    this.#end = new Constant(`}${after}`);
    this.#frameLength = this.#members.reduce((sum, { name }) => sum + name.length, this.#end.length + BEYOND);
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
    const row = new RowCells(bytes, start, columns + Number(checked));
    const output = new Output();
    let rowCount = 0;
    row.expect(OPEN_BRACKET);
    if (bytes[row.read] === CLOSE_BRACKET) {
      row.read++;
    } else {
      output.reserve(Math.ceil(this.#growth * row.rest));
      do {
        this.#writeObject(row, output, checked);
        rowCount++;
      } while (bytes[row.read++] === COMMA);
      if (bytes[row.read - 1] !== CLOSE_BRACKET) throw malformed(row.read - 1);
      this.#growth = (1.02 * output.length) / (row.read - start);
    }
    const lastKey = rowCount === 0 ? [] : keyColumns.map((column) => row.text(column));
    const check = checked && rowCount > 0 ? row.text(columns) : undefined;
    return { data: output.written, cells: new Int32Array(0), rowCount, lastKey, end: row.read, check };
  }

  #writeObject(row: RowCells, output: Output, checked: boolean): void {
    // Cells do not become longer, except where this room is reserved again.
    const room = this.#frameLength + row.rest;
    output.reserve(room);
    row.begin();
    for (const { name, value } of this.#members) {
      name.write(output);
      if (typeof value === 'string') row.writeNext(value === 'json', output, room);
      else value.write(row, output, room);
    }
    this.#end.write(output);
    if (checked) {
      const { length } = output;
      row.writeNext(false, output, room);
      output.length = length;
    }
  }
}
