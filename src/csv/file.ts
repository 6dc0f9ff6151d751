/** The first record of a file: the columns' names, which need no quotes. */
export function csvHeader(columns: readonly string[]): Uint8Array {
  return new TextEncoder().encode(`${columns.join(',')}\n`);
}

/**
 * The headers of a CSV file to be saved: `<name>_<time>.csv`, the time in UTC and without the colons that Windows does
 * not allow. The file name stands last: a client takes it from `filename="` to the end of the header.
 */
export function attachment(name: string, now = new Date()): Record<string, string> {
  const time = now
    .toISOString()
    .replaceAll(':', '-')
    .replace(/\.\d+Z$/, 'Z');
  return {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}_${time}.csv"`,
  };
}
