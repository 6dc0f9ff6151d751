import type { EncodedRows } from '../../encode/rows.ts';

export const QUOTE = 0x22;

/** The length in UTF-16 of the text of a CSV cell. */
export function cellLength({ data, cells }: EncodedRows, cell: number): number {
  const start = cells[cell] as number;
  const end = (cells[cell + 1] as number) - 1;
  const quotes = data[start] === QUOTE ? 1 : 0;
  return textLength(data, start + quotes, end - quotes);
}

/** The length in UTF-16 of a CSV cell's text, without the quotes around it. Those within it are doubled. */
export function textLength(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at++;
    if ((byte & 0xc0) !== 0x80) length += byte < 0xf0 ? 1 : 2;
  }
  return length;
}
