import { CLOSE_BRACKET, COMMA, QUOTE } from './ascii.ts';
import { Constant, Output, PADDING_BYTES, utf8 } from './bytes.ts';
import type { RowCells } from './row-cells.ts';

/**
 * Makes a function that writes the token of a row (see responses/cursor.ts): base64url of the JSON
 * array `[number, …texts]`.
 *
 * @param columns those of the texts, counted from 0; each has been read, and is not null
 */
export function tokenWriter(number: number, columns: readonly number[]) {
  const beginning = new Constant(`[${number}`);
  const array = new Output();

  /** @param room to reserve besides that of the token and of the rest of the page */
  return ({ view, starts, ends, remainingBytes }: RowCells, output: Output, room: number): void => {
    array.length = 0;
    array.reserve(beginning.length + PADDING_BYTES);
    beginning.write(array);

    for (const column of columns) {
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
  };
}

const ALPHABET = utf8.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
/** The two characters that encode 12 bits, by these bits. */
const PAIRS = Uint16Array.from(
  { length: 4096 },
  (_, bits) => ((ALPHABET[bits >> 6] as number) << 8) | (ALPHABET[bits & 0x3f] as number),
);

/** The number of characters for this many bytes. */
const base64UrlLength = (bytes: number) => Math.ceil((4 * bytes) / 3);

/**
 * Writes bytes as base64url without padding (RFC 4648 section 5).
 *
 * @param from with at least three zero bytes after the input
 * @param length the number of bytes to take from the start of `from`
 * @param to with room for two more characters: up to two after the text are overwritten
 * @returns the position after the text
 */
function writeBase64Url(from: DataView, length: number, to: DataView, at: number): number {
  let write = at;
  for (let read = 0; read < length; read += 3) {
    const bits = from.getInt32(read) >>> 8;
    to.setInt32(write, ((PAIRS[bits >> 12] as number) << 16) | (PAIRS[bits & 0xfff] as number));
    write += 4;
  }

  return at + base64UrlLength(length);
}
