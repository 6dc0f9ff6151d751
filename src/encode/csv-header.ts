const utf8 = new TextEncoder();

/**
 * The first record of a file: the columns' names, which need no quotes.
 *
 * @param options.bom puts a byte order mark before it, by which Excel knows UTF-8
 */
export function csvHeader(columns: readonly string[], { bom = false }: { bom?: boolean | undefined } = {}): Uint8Array {
  return utf8.encode(`${bom ? '\uFEFF' : ''}${columns.join(',')}\n`);
}
