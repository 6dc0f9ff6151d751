/**
 * A text as a cell of a CSV file, in the dialect of `transcode/csv.ts`: quoted only where it holds a comma, a quote, CR or LF
 * or is the empty string.
 */
export function csvCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const QUOTE = '"'.charCodeAt(0);

/**
 * @param at where a cell begins, in well-formed CSV
 * @param mark what ends the cell: a comma, or LF for the last of a record
 * @returns the position of the mark, or -1 when the text ends before it
 */
export function endOfCell(csv: string, at: number, mark: ',' | '\n'): number {
  if (csv.charCodeAt(at) !== QUOTE) return csv.indexOf(mark, at);
  for (let quote = csv.indexOf('"', at + 1); quote >= 0; quote = csv.indexOf('"', quote + 2)) {
    // Two quotes stand for one; the first that stands alone ends the cell.
    if (csv.charCodeAt(quote + 1) !== QUOTE) return quote + 1 < csv.length ? quote + 1 : -1;
  }
  return -1;
}
