import type { MemberValue } from './json-values.ts';
import { malformed } from './malformed-page.ts';
import { Output } from './output.ts';
import { transcodePage } from './page.ts';
import { RowCells } from './row-cells.ts';

/*
 * The JSON encoder: Postgres rows as arrays of text, straight from the bytes of a SQL-over-HTTP response to the bytes of JSON
 * objects. Nothing is parsed: a cell is a JSON string or a null already, and is copied as it stands.
 */

/** How rows become objects. */
export interface ObjectLayout {
  readonly members: readonly (readonly [name: string, value: MemberValue])[];
  /** What stands before each object. */
  readonly before?: string;
  /** What stands behind each object. */
  readonly behind?: string;
}

/** What a page's rows hold. Columns are counted from 0. */
export interface PageColumns {
  /** How many columns every row must have. */
  readonly columns: number;
  /** Those of the last row to return as `lastKey`. */
  readonly keyColumns: readonly number[];
  /** That of all rows to return as `versions`. */
  readonly versionColumn?: number | undefined;
}

/** A page of objects. */
export interface ObjectPage {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly rowCount: number;
  /** The last row's texts in the key columns, null for a null. Empty when there are no rows. */
  readonly lastKey: readonly (string | null)[];
  readonly versions: readonly string[];
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** How much larger than its rows, which have no names, a page's objects are thought to be at most: room for more comes later. */
const MAX_GROWTH = 2;

const utf8 = new TextEncoder();

/** Turns pages of rows into objects of a layout. */
export class ObjectEncoder {
  readonly #members: readonly { readonly name: Uint8Array; readonly value: MemberValue }[];
  readonly #end: Uint8Array;
  /** What an object takes beside its values. */
  readonly #frameLength: number;

  constructor({ members, before = '', behind = '' }: ObjectLayout) {
    this.#members = members.map(([name, value], i) => ({
      name: utf8.encode(`${i === 0 ? `${before}{` : ','}${JSON.stringify(name)}:`),
      value,
    }));
    this.#end = utf8.encode(`}${behind}`);
    this.#frameLength = this.#members.reduce((sum, { name }) => sum + name.length, this.#end.length);
  }

  /**
   * Turns the body of a SQL-over-HTTP response into objects.
   *
   * @param body compact JSON with rows as arrays of text
   * @throws MalformedPageError when the body is cut off or is anything else
   */
  encode(body: Uint8Array<ArrayBuffer>, columns: PageColumns): ObjectPage {
    return transcodePage(body, columns.columns, (start) => this.#encodeRows(body, start, columns));
  }

  #encodeRows(bytes: Uint8Array<ArrayBuffer>, start: number, { columns, keyColumns, versionColumn }: PageColumns) {
    const versions: string[] = [];
    let read = start + 1;
    let rowCount = 0;
    if (bytes[start] !== OPEN_BRACKET) throw malformed(start);
    if (bytes[read] === CLOSE_BRACKET) {
      return { json: new Uint8Array(0), rowCount, lastKey: [], versions, end: read + 1 };
    }

    const row = new RowCells(bytes, columns);
    const output = new Output();
    for (let next = COMMA; next === COMMA; next = bytes[read++] as number) {
      const rowStart = read;
      read = row.find(read);
      this.#writeObject(row, output);
      if (rowCount === 0 && bytes[read] === COMMA) {
        const growth = Math.min(MAX_GROWTH, output.length / (read - rowStart));
        output.reserve(Math.ceil(growth * (bytes.length - read)));
      }
      if (versionColumn !== undefined) versions.push(row.text(versionColumn) as string);
      rowCount++;
    }

    if (bytes[read - 1] !== CLOSE_BRACKET) throw malformed(read - 1);
    const lastKey = keyColumns.map((column) => row.text(column));
    return { json: output.bytes.subarray(0, output.length), rowCount, lastKey, versions, end: read };
  }

  #writeObject(row: RowCells, output: Output): void {
    let room = this.#frameLength;
    for (const { value } of this.#members) room += value.room(row);
    output.reserve(room);
    for (const { name, value } of this.#members) {
      output.write(name);
      value.write(row, output);
    }
    output.write(this.#end);
  }
}
