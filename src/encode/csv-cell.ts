const utf8 = new TextEncoder();

/** A text as a CSV cell, in the dialect of csv.ts: quoted only if it contains a comma, a quote, CR or LF, or is empty. */
export function csvCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The header record of a file.
 *
 * @param cells the column names, quoted where necessary
 * @param options.bom starts the file with a byte order mark, by which Excel recognises UTF-8
 */
export function csvHeader(cells: readonly string[], { bom = false }: { bom?: boolean | undefined } = {}): Uint8Array {
  return utf8.encode(`${bom ? '\uFEFF' : ''}${cells.join(',')}\n`);
}

const QUOTE = '"'.charCodeAt(0);

/**
 * Finds the end of a cell in well-formed CSV.
 *
 * @param at the position of the cell's first character
 * @param mark what ends the cell: a comma, or LF for the last cell of a record
 * @returns the position of the mark; -1 if the text ends before it
 */
export function endOfCell(csv: string, at: number, mark: ',' | '\n'): number {
  if (csv.charCodeAt(at) !== QUOTE) return csv.indexOf(mark, at);
  for (let quote = csv.indexOf('"', at + 1); quote >= 0; quote = csv.indexOf('"', quote + 2)) {
    // A doubled quote is a character of the cell; the first single one ends it.
    if (csv.charCodeAt(quote + 1) !== QUOTE) return quote + 1 < csv.length ? quote + 1 : -1;
  }
  return -1;
}
