/** https://www.iana.org/assignments/media-types/application/vnd.openxmlformats-officedocument.spreadsheetml.sheet */
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Without a charset, some clients guess one, slowly and wrongly. */
const TYPES = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8', // https://github.com/ndjson/ndjson-spec
  xlsx: XLSX,
};

/**
 * The headers of a file to save as `<name>_<time>.<extension>`. The time is in UTC, without colons, which Windows forbids. The
 * file name comes last, because at least one client reads it from `filename="` to the end of the header.
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
