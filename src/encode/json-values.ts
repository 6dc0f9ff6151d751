import { base64UrlLength, writeBase64Url } from './base64url.ts';
import { Output, viewOf } from './bytes.ts';
import { ByteMap } from './byte-map.ts';
import { withoutLineSeparators } from './line-separators.ts';
import { malformed } from './page.ts';
import type { RowCells } from './row-cells.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/**
 * A member's value. `string` is the next column's text, and `json` the JSON that it contains, as Postgres prints jsonb: numbers
 * keep every digit. Other values are made from columns.
 */
export type MemberValue = 'string' | 'json' | MadeValue;

/** Makes a value from a row's cells. */
export interface MadeValue {
  /** @param room to reserve besides that of the value */
  write(row: RowCells, output: Output, room: number): void;
}

const utf8 = new TextEncoder();

/** Up to this many bytes are written after a {@link Constant}. */
export const BEYOND = 7;

/** A text that is written into many objects, eight bytes at a time. */
export class Constant {
  readonly length: number;
  readonly #view: DataView;

  constructor(text: string) {
    this.#view = viewOf(utf8.encode(`${text}${'\0'.repeat(BEYOND)}`));
    this.length = this.#view.byteLength - BEYOND;
  }

  /** The caller has reserved room, also for {@link BEYOND}. */
  write(output: Output): void {
    const { view } = output;
    for (let read = 0, write = output.length; read < this.length; read += 8, write += 8)
      view.setBigInt64(write, this.#view.getBigInt64(read));
    output.length += this.length;
  }
}

/** The string that a table has for the next column's text. The query returns no texts that are not in the table. */
export class LookupValue implements MadeValue {
  readonly #table: ByteMap<Constant>;
  readonly #keyLength: number;

  /** @param table by keys of the same length, such as UUIDs, without characters that JSON escapes */
  constructor(table: ReadonlyMap<string, string>) {
    const constantOf = (text: string) => new Constant(withoutLineSeparators(JSON.stringify(text)));
    this.#table = new ByteMap(Array.from(table, ([key, text]) => [key, constantOf(text)] as const));
    this.#keyLength = utf8.encode(table.keys().next().value).length;
  }

  /** @throws MalformedPageError */
  write({ bytes, read }: RowCells, output: Output, room: number): void {
    const start = read + 1;
    const end = start + this.#keyLength;
    const text = bytes[read] === QUOTE && bytes[end] === QUOTE ? this.#table.get(bytes, start, end) : undefined;
    if (!text) throw malformed(read);
    output.reserve(text.length + room);
    text.write(output);
  }
}

/**
 * A token (see responses/cursor.ts): base64url of a JSON array of a number and the texts of columns, counted from 0, that are not
 * null and precede it.
 */
export class TokenValue implements MadeValue {
  readonly #columns: readonly number[];
  readonly #beginning: Constant;
  readonly #array = new Output();

  constructor(number: number, columns: readonly number[]) {
    this.#beginning = new Constant(`[${number}`);
    this.#columns = columns;
  }

  write({ view, starts, ends }: RowCells, output: Output, room: number): void {
    const array = this.#array;
    array.length = 0;
    array.reserve(this.#beginning.length + BEYOND);
    this.#beginning.write(array);
    for (const column of this.#columns) {
      const start = starts[column] as number;
      const end = ends[column] as number;
      array.reserve(1 + end - start + 4);
      array.writeByte(COMMA);
      array.writeFours(view, start, end);
    }
    array.view.setInt32(array.length++, CLOSE_BRACKET << 24); // and three zeros
    output.reserve('""'.length + base64UrlLength(array.length) + room);
    output.writeByte(QUOTE);
    output.length = writeBase64Url(array.view, array.length, output.view, output.length);
    output.writeByte(QUOTE);
  }
}
