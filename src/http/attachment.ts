/** A type of file. */
export interface FileType {
  readonly extension: string;
  /** With a charset, because some clients guess one otherwise, slowly and wrongly. */
  readonly contentType: string;
}

export const CSV: FileType = { extension: 'csv', contentType: 'text/csv; charset=utf-8' };

/**
 * https://www.iana.org/assignments/media-types/application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
 */
export const XLSX: FileType = {
  extension: 'xlsx',
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/**
 * The headers of a file to save as `<name>_<time>Z.<extension>`. The time is in UTC, without
 * colons, which Windows forbids. The file name comes last, because at least one client reads it
 * from `filename="` to the end of the header.
 */
export function attachment(
  name: string,
  { extension, contentType }: FileType,
): Record<string, string> {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${name}_${time}Z.${extension}"`,
  };
}
