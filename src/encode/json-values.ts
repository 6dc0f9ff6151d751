import { base64UrlLength, writeBase64Url } from './base64url.ts';
import { Output, viewOf } from './bytes.ts';
import { withoutLineSeparators } from './line-separators.ts';
import { malformed } from './rows.ts';
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
  /** @param room to reserve besides that of the value and of the rest of the page */
  write(row: RowCells, output: Output, room: number): void;
}

const utf8 = new TextEncoder();

/** Up to this many bytes are written after a {@link Constant}. */
export const PADDING_BYTES = 7;

/** A text that is written into many objects, eight bytes at a time. */
export class Constant {
  readonly length: number;
  readonly #view: DataView;

  constructor(text: string) {
    this.#view = viewOf(utf8.encode(`${text}${'\0'.repeat(PADDING_BYTES)}`));
    this.length = this.#view.byteLength - PADDING_BYTES;
  }

  /** The caller must have reserved `length + PADDING_BYTES` bytes. */
  write(output: Output): void {
    const { view } = output;
    for (let read = 0, write = output.length; read < this.length; read += 8, write += 8)
      view.setBigInt64(write, this.#view.getBigInt64(read));
    output.length += this.length;
  }

  /** Four bytes as a little-endian integer. */
  fourAt(at: number): number {
    return this.#view.getInt32(at, true);
  }

  /** Whether the first `length` bytes, rounded up to fours, are at a position. */
  startsAt(view: DataView, at: number, length: number): boolean {
    for (let i = 0; i < length; i += 4) if (this.fourAt(i) !== view.getInt32(at + i, true)) return false;
    return true;
  }
}

interface Entry {
  readonly key: Constant;
  readonly text: Constant;
  /** Another entry whose key has the same end. */
  readonly next: Entry | undefined;
}

/** Replaces the next column's text by the one that a table has for it. The query returns only texts that are in the table. */
export class LookupValue implements MadeValue {
  readonly #table: ReadonlyMap<string, string>;
  /** The entries used so far, by the last four bytes of the quoted key. */
  readonly #byEnd = new Map<number, Entry>();
  readonly #endAt: number;

  /**
   * @param table texts by key. All keys have the same length of at least two, and are ASCII without characters that JSON escapes,
   *   such as UUIDs
   */
  constructor(table: ReadonlyMap<string, string>) {
    this.#table = table;
    const [key = ''] = table.keys();
    this.#endAt = `"${key}"`.length - 4;
  }

  /** @throws MalformedRowsError */
  write({ bytes, view, read, rest }: RowCells, output: Output, room: number): void {
    const end = this.#endAt;
    if (end + 4 > rest) throw malformed(read);
    let entry = this.#byEnd.get(view.getInt32(read + end, true));
    while (entry && !entry.key.startsAt(view, read, end)) entry = entry.next;
    entry ??= this.#add(new TextDecoder().decode(bytes.subarray(read, read + end + 4)));
    if (!entry) throw malformed(read);
    output.reserve(entry.text.length + room + rest);
    entry.text.write(output);
  }

  /** Makes the entry of a cell: a key with its quotes. @returns undefined if the table does not have the key */
  #add(cell: string): Entry | undefined {
    const key = cell.slice(1, -1);
    const text = this.#table.get(key);
    if (text === undefined || cell !== `"${key}"`) return undefined;
    const quoted = new Constant(cell);
    const lastFour = quoted.fourAt(this.#endAt);
    const entry = {
      key: quoted,
      text: new Constant(withoutLineSeparators(JSON.stringify(text))),
      next: this.#byEnd.get(lastFour),
    };
    this.#byEnd.set(lastFour, entry);
    return entry;
  }
}

/**
 * A token (see responses/cursor.ts): base64url of the JSON array `[number, …texts]`; the texts are those of earlier columns
 * (indexes from 0), none of them null.
 */
export class TokenValue implements MadeValue {
  readonly #columns: readonly number[];
  readonly #beginning: Constant;
  readonly #array = new Output();

  constructor(number: number, columns: readonly number[]) {
    this.#beginning = new Constant(`[${number}`);
    this.#columns = columns;
  }

  write({ view, starts, ends, rest }: RowCells, output: Output, room: number): void {
    const array = this.#array;
    array.length = 0;
    array.reserve(this.#beginning.length + PADDING_BYTES);
    this.#beginning.write(array);
    for (const column of this.#columns) {
      const start = starts[column] as number;
      const end = ends[column] as number;
      array.reserve(1 + end - start + 4);
      array.writeByte(COMMA);
      array.writeFours(view, start, end);
    }
    array.view.setInt32(array.length++, CLOSE_BRACKET << 24); // and three zeros
    output.reserve('""'.length + base64UrlLength(array.length) + room + rest);
    output.writeByte(QUOTE);
    output.length = writeBase64Url(array.view, array.length, output.view, output.length);
    output.writeByte(QUOTE);
  }
}
