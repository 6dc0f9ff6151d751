import { shown } from './bad-line.ts';

/** Enough to recognise all kinds, and to show the message of an error. */
export const HEAD_BYTES = 512;

const IMPORT_CSV =
  'export the survey as CSV, and import that file (a workbook saved as CSV may have damaged ids)';
const WORKBOOK = `is an Excel workbook, not CSV: ${IMPORT_CSV}`;

/**
 * The first name in a ZIP file follows 30 bytes:
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT section 4.3.7
 */
const zipOf = (name: RegExp) => new RegExp(`^PK\\x03\\x04[^]{26}(${name.source})`);

/** Kinds of files that people take for CSV, by their first bytes, and what to do about them. */
const KINDS: readonly [RegExp, string][] = [
  [zipOf(/mimetypeapplication\/vnd\.oasis/), `is an OpenDocument file, not CSV: ${IMPORT_CSV}`],
  [zipOf(/\[Content_Types\]|_rels\/|docProps\/|xl\//), WORKBOOK],
  [/^\u00D0\u00CF/, WORKBOOK], // an OLE file, as Excel wrote until 2003
  [zipOf(/.*/), 'is a ZIP archive, not CSV: unpack it, and import the file in it'],
  [
    /^(BZh|\u00FD7zXZ|7z\u00BC\u00AF|\(\u00B5\/\u00FD)/,
    'is compressed, but not with gzip: decompress it first',
  ],
  [/^[^\t\n\r -\u00FF]\u008B/, 'is compressed twice with gzip: decompress it once'],
  [
    /^(\u00FF\u00FE|\u00FE\u00FF|[^]?\0)/,
    `is UTF-16, not UTF-8: export the file again (">" of PowerShell writes UTF-16)`,
  ],
  [
    /^\s*</,
    'is HTML or XML, not CSV, perhaps the error page of a server: open it in an editor, and export the file again',
  ],
];

/**
 * Why a file is not CSV, and what to do; undefined if it may be.
 *
 * @param head its first {@link HEAD_BYTES} bytes, or all
 */
export function whyNotCsv(head: Buffer): string | undefined {
  const bytes = head.toString('latin1').replace(/^\u00EF\u00BB\u00BF/, '');
  const kind = KINDS.find(([pattern]) => pattern.test(bytes));
  if (kind) return kind[1];
  if (!/^\s*[[{]/.test(bytes)) return undefined;
  const message = /^\s*\{"error":\{"message":"((?:[^"\\]|\\.)*)"/.exec(head.toString())?.[1];
  return message === undefined
    ? 'is JSON, not CSV: export the file as CSV'
    : `is an error of the service, not CSV: ${shown(message)}`;
}
