import { base64UrlLength, writeBase64Url } from './base64url.ts';
import { Constant, Output, PADDING_BYTES } from './bytes.ts';
import type { RowCells } from './row-cells.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/**
 * A member's value: the next column's text; with `json`, the JSON that this text contains, as Postgres prints jsonb, so that numbers
 * keep every digit; or a token, which is made from earlier columns.
 */
export type MemberValue = 'string' | 'json' | TokenValue;

/**
 * A token (see responses/cursor.ts): base64url of the JSON array `[number, …texts]`; the texts are those of earlier columns
 * (indexes from 0), none of them null.
 */
export class TokenValue {
  readonly #columns: readonly number[];
  readonly #beginning: Constant;
  readonly #array = new Output();

  constructor(number: number, columns: readonly number[]) {
    this.#beginning = new Constant(`[${number}`);
    this.#columns = columns;
  }

  /** @param room to reserve besides that of the token and of the rest of the page */
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
