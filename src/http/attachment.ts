const TYPES = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson', // https://github.com/ndjson/ndjson-spec
};

/**
 * The headers of a file to be saved: `<name>_<time>.<extension>`, the time in UTC and without the colons that Windows
 * does not allow. The file name stands last: a client takes it from `filename="` to the end of the header.
 */
export function attachment(name: string, extension: keyof typeof TYPES, now = new Date()): Record<string, string> {
  const time = now
    .toISOString()
    .replaceAll(':', '-')
    .replace(/\.\d+Z$/, 'Z');
  return {
    'Content-Type': TYPES[extension],
    'Content-Disposition': `attachment; filename="${name}_${time}.${extension}"`,
  };
}
