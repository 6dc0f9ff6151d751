import { type ZipEntry, zip } from './zip.ts';

/*
 * An Excel workbook with one worksheet: the fewest parts that Excel opens (ECMA-376-1 sections 12.3 and 15.2; ECMA-376-2).
 */

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT_TYPE = 'application/vnd.openxmlformats';

const utf8 = new TextEncoder();
const xml = (text: string) => utf8.encode(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`);

/** The relationship of a package or part to one other part. */
const relationship = (type: string, target: string) =>
  `<Relationships xmlns="${PACKAGE}/relationships">` +
  `<Relationship Id="rId1" Type="${OFFICE}/${type}" Target="${target}"/></Relationships>`;

const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml':
    `<Types xmlns="${PACKAGE}/content-types">` +
    `<Default Extension="rels" ContentType="${CONTENT_TYPE}-package.relationships+xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${CONTENT_TYPE}-officedocument.spreadsheetml.sheet.main+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${CONTENT_TYPE}-officedocument.spreadsheetml.worksheet+xml"/>` +
    '</Types>',
  '_rels/.rels': relationship('officeDocument', 'xl/workbook.xml'),
  'xl/workbook.xml':
    `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
    '<sheets><sheet name="responses" sheetId="1" r:id="rId1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels': relationship('worksheet', 'worksheets/sheet1.xml'),
};

/** With the first row frozen. */
const SHEET_START = xml(
  `<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>',
);
const SHEET_END = utf8.encode('</sheetData></worksheet>');

/**
 * Writes an Excel workbook.
 *
 * @param rows the rows of its worksheet, as a `SheetWriter` writes them; the first one is frozen
 * @returns chunks, each valid until the next is requested
 */
export function workbook(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const parts = Object.entries(PARTS).map(([name, text]): ZipEntry => ({ name, data: [xml(text)] }));
  return zip([...parts, { name: 'xl/worksheets/sheet1.xml', data: sheet(rows) }]);
}

async function* sheet(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield SHEET_START;
  yield* rows;
  yield SHEET_END;
}
