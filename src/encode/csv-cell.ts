const utf8 = new TextEncoder();

/** A text as a CSV cell, in the dialect of csv.ts: quoted only if it contains a comma, a quote, CR or LF, or is empty. */
export function csvCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The byte order mark, by which Excel recognises UTF-8. */
export const BOM = utf8.encode('\uFEFF');

/**
 * The header record of a file.
 *
 * @param cells the column names, quoted where necessary
 * @param options.bom starts the file with a byte order mark
 */
export function csvHeader(cells: readonly string[], { bom = false }: { bom?: boolean | undefined } = {}): Uint8Array {
  return utf8.encode(`${bom ? '\uFEFF' : ''}${cells.join(',')}\n`);
}
