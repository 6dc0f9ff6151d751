import { Constant, Output, PADDING_BYTES } from './bytes.ts';
import type { MemberValue } from './json-values.ts';
import { type EncodeRows, LastKey, type RowShape, malformed } from './rows.ts';
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
export interface ObjectLayout extends Pick<RowShape, 'keyColumns'>, ObjectFrame {
  readonly members: readonly (readonly [name: string, value: MemberValue])[];
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** The buffer gets room for this many times the expected bytes. It can grow further. */
const RESERVE = 1.02;

/** Encodes rows as objects of a layout. */
export class ObjectEncoder {
  readonly #columns: number;
  readonly #keyColumns: readonly number[];
  readonly #members: readonly { readonly name: Constant; readonly value: MemberValue }[];
  readonly #end: Constant;
  /** An object takes so many bytes besides its values, the padding after its end included. */
  readonly #frameLength: number;
  /** How many bytes of objects the last page had per byte of its rows; 0 before the first page. */
  #growth = 0;

  constructor({ members, keyColumns, before = '', after = '' }: ObjectLayout) {
    this.#columns = members.filter(([, value]) => typeof value === 'string').length;
    this.#keyColumns = keyColumns;
    this.#members = members.map(([name, value], i) => ({
      name: new Constant(`${i === 0 ? `${before}{` : ','}${JSON.stringify(name)}:`),
      value,
    }));
    this.#end = new Constant(`}${after}`);
    this.#frameLength = this.#members.reduce((sum, { name }) => sum + name.length, this.#end.length + PADDING_BYTES);
  }

  readonly encode: EncodeRows = (bytes, start, hasExtra) => {
    const row = new RowCells(bytes, start, this.#columns + Number(hasExtra));
    const output = new Output();
    const key = new LastKey(this.#keyColumns);
    let rowCount = 0;
    row.expect(OPEN_BRACKET);
    if (bytes[row.read] === CLOSE_BRACKET) {
      row.read++;
    } else {
      output.reserve(Math.ceil(RESERVE * (this.#growth || 1) * row.remainingBytes));
      do {
        this.#writeObject(row, output, hasExtra);
        if (this.#growth === 0) {
          this.#growth = output.length / (row.read - start); // in the first row
          output.reserve(Math.ceil(RESERVE * this.#growth * row.remainingBytes));
        }
        if (!key.next(bytes, row.starts, row.ends)) throw malformed(row.read - 1);
        rowCount++;
      } while (bytes[row.read++] === COMMA);
      if (bytes[row.read - 1] !== CLOSE_BRACKET) throw malformed(row.read - 1);
      this.#growth = output.length / (row.read - start);
    }
    const lastKey = rowCount === 0 ? [] : this.#keyColumns.map((column) => row.text(column));
    const extra = hasExtra && rowCount > 0 ? row.text(this.#columns) : undefined;
    return { data: output.written, cells: new Int32Array(0), rowCount, lastKey, end: row.read, extra };
  };

  #writeObject(row: RowCells, output: Output, hasExtra: boolean): void {
    // A value takes no more bytes than its cell. What writes a longer one reserves this room again.
    const room = this.#frameLength;
    output.reserve(room + row.remainingBytes);
    row.begin();
    for (const { name, value } of this.#members) {
      name.write(output);
      if (typeof value === 'string') row.writeNext(value === 'json', output, room);
      else value.write(row, output, room);
    }
    this.#end.write(output);
    if (hasExtra) {
      const { length } = output;
      row.writeNext(false, output, room);
      output.length = length;
    }
  }
}
