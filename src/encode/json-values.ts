import { base64UrlLength, writeBase64Url } from './base64url.ts';
import { Constant, Output, PADDING_BYTES, viewOf } from './bytes.ts';
import { withoutLineSeparators } from './json-escapes.ts';
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
interface MadeValue {
  /** @param room to reserve besides that of the value and of the rest of the page */
  write(row: RowCells, output: Output, room: number): void;
}

interface Entry {
  /** The text that is replaced, as JSON. */
  readonly cell: DataView;
  readonly text: Constant;
}

/** Replaces the next column's text by the one that a table has for it. The query returns only texts that are in the table. */
export class LookupValue implements MadeValue {
  readonly #table: ReadonlyMap<string, string>;
  readonly #cellLength: number;
  /** The entries used so far, by the last four characters of the key; the latest one of several. */
  readonly #entries = new Map<number, Entry>();

  /**
   * @param table texts by key. All keys have the same length of at least four, and are ASCII without characters that JSON escapes,
   *   such as UUIDs
   */
  constructor(table: ReadonlyMap<string, string>) {
    this.#table = table;
    const [key = ''] = table.keys();
    this.#cellLength = `"${key}"`.length;
  }

  /** @throws MalformedRowsError */
  write({ bytes, view, read, remainingBytes }: RowCells, output: Output, room: number): void {
    const end = read + this.#cellLength;
    if (this.#cellLength > remainingBytes) throw malformed(read);
    const hash = view.getInt32(end - '1234"'.length);
    let entry = this.#entries.get(hash);
    if (!entry || bytes[end - 1] !== QUOTE || !startsAlike(entry.cell, view, read)) {
      entry = this.#entryOf(bytes.slice(read, end));
      if (!entry) throw malformed(read);
      this.#entries.set(hash, entry);
    }
    output.reserve(entry.text.length + room + remainingBytes);
    entry.text.write(output);
  }

  /** @returns undefined if the table does not have the cell's text */
  #entryOf(cell: Uint8Array): Entry | undefined {
    const quoted = new TextDecoder().decode(cell);
    const key = quoted.slice(1, -1);
    const text = this.#table.get(key);
    if (text === undefined || quoted !== `"${key}"`) return undefined;
    return { cell: viewOf(cell), text: new Constant(withoutLineSeparators(JSON.stringify(text))) };
  }
}

/** Whether the bytes at a position are those of a cell, except for its last three, which the hash and the quote determine. */
function startsAlike(cell: DataView, view: DataView, at: number): boolean {
  const length = cell.byteLength;
  for (let i = 0; i + 4 <= length; i += 4) if (cell.getInt32(i) !== view.getInt32(at + i)) return false;
  return true;
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

  write({ view, starts, ends, remainingBytes }: RowCells, output: Output, room: number): void {
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
    output.reserve('""'.length + base64UrlLength(array.length) + room + remainingBytes);
    output.writeByte(QUOTE);
    output.length = writeBase64Url(array.view, array.length, output.view, output.length);
    output.writeByte(QUOTE);
  }
}
