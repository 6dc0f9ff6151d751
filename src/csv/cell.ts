/**
 * A text as a cell of a CSV file, in the dialect of `transcode.ts`: quoted only where it holds a comma, a quote, CR or LF
 * or is the empty string.
 */
export function csvCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const QUOTE = '"'.charCodeAt(0);

/**
 * @param at where a cell begins, in well-formed CSV
 * @param mark what ends the cell: a comma, or LF for the last of a record
 * @returns the position of the mark
 */
export function endOfCell(csv: string, at: number, mark: ',' | '\n'): number {
  let end = at;
  if (csv.charCodeAt(at) === QUOTE) {
    // The next quote that no second one follows.
    for (end = csv.indexOf('"', at + 1) + 1; csv.charCodeAt(end) === QUOTE; end = csv.indexOf('"', end + 1) + 1) {
      if (end === 0) break;
    }
    if (csv[end] !== mark) throw new Error(`no end of the cell at position ${at}`);
    return end;
  }
  end = csv.indexOf(mark, at);
  if (end < 0) throw new Error(`no end of the cell at position ${at}`);
  return end;
}
