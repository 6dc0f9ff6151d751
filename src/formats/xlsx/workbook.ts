import { utf8 } from '../../encode/bytes.ts';
import { recordOf } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { Pages, Table } from '../file-format.ts';
import { ColumnWidths } from './measure.ts';
import { SheetWriter } from './sheet.ts';
import { type ZipEntry, zip } from './zip.ts';

/*
 * An Excel workbook: the fewest parts that Excel opens (ECMA-376-1 sections 12.3 and 15.2;
 * ECMA-376-2).
 */

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT_TYPE = 'application/vnd.openxmlformats';

const xml = (text: string) =>
  utf8.encode(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`);

/** The number format `@`, text, without which Excel reads a cell again when it is edited. */
const TEXT = 49;
/**
 * The format of cells without another is the first of `cellXfs`; the second is that of names of
 * columns, and the third that of numbers, if there are any. Excel requires a font, two fills and a
 * border, and openpyxl a named style.
 */
const styles = (hasNumbers: boolean) =>
  `<styleSheet xmlns="${MAIN}">` +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border/></borders>' +
  `<cellStyleXfs count="1"><xf numFmtId="${TEXT}"/></cellStyleXfs>` +
  `<cellXfs count="${hasNumbers ? 3 : 2}"><xf numFmtId="${TEXT}" xfId="0" applyNumberFormat="1"/>` +
  `<xf numFmtId="${TEXT}" fontId="1" xfId="0" applyNumberFormat="1" applyFont="1"/>${hasNumbers ? '<xf numFmtId="0" xfId="0" applyNumberFormat="1"/>' : ''}</cellXfs>` +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/** The relationships of a package or part to other parts: `rId1` to the first, and so on. */
const relationships = (parts: readonly (readonly [type: string, target: string])[]) =>
  `<Relationships xmlns="${PACKAGE}/relationships">` +
  parts
    .map(
      ([type, target], i) =>
        `<Relationship Id="rId${i + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
    )
    .join('') +
  '</Relationships>';

const contentType = (part: string, type: string) =>
  `<Override PartName="/xl/${part}" ContentType="${CONTENT_TYPE}-officedocument.spreadsheetml.${type}+xml"/>`;

/**
 * Writes an Excel workbook.
 *
 * @param sheets the worksheets; the last one is written first: the codebook, which holds a slot until then
 * @param hasNumbers whether one has cells of numbers
 * @returns chunks, each valid until the next is requested
 */
export function workbook(sheets: readonly ZipEntry[], hasNumbers: boolean) {
  const paths = sheets.map((_, i) => `worksheets/sheet${i + 1}.xml`);
  const parts = {
    '[Content_Types].xml':
      `<Types xmlns="${PACKAGE}/content-types">` +
      `<Default Extension="rels" ContentType="${CONTENT_TYPE}-package.relationships+xml"/>` +
      contentType('workbook.xml', 'sheet.main') +
      contentType('styles.xml', 'styles') +
      paths.map((path) => contentType(path, 'worksheet')).join('') +
      '</Types>',
    '_rels/.rels': relationships([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml':
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><bookViews><workbookView/></bookViews><sheets>` +
      sheets
        .map(({ name }, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
        .join('') +
      '</sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relationships([
      ...paths.map((path) => ['worksheet', path] as const),
      ['styles', 'styles.xml'],
    ]),
    'xl/styles.xml': styles(hasNumbers),
  };

  return zip([
    ...Object.entries(parts).map(([name, text]) => ({ name, data: [xml(text)] })),
    ...sheets.map(({ data }, i) => ({ name: `xl/${paths[i]}`, data })).toReversed(),
  ]);
}

/** The start of a worksheet, whose first row is frozen. */
const sheetStart = (widths: readonly number[]) =>
  `<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
  '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>' +
  widths
    .map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`)
    .join('') +
  '</cols><sheetData>';
const SHEET_END = utf8.encode('</sheetData></worksheet>');

/**
 * Writes the data of a worksheet.
 *
 * @param first the first of the pages, which determines the widths of the columns
 * @param numbers the names of the columns whose cells are numbers where their texts are
 */
export async function* sheetOf(
  { names, records }: Pick<Table, 'names' | 'records'>,
  pages: Pages,
  first: EncodedRows,
  numbers: ReadonlySet<string> = new Set(),
) {
  const columns = new ColumnWidths();
  const rows = new SheetWriter(names.map((name) => numbers.has(name)));
  for (const writer of [columns, rows]) {
    writer.cells(recordOf(names), 0, names.length);
    writer.endRecord();
  }
  yield* records(columns, [first]); // nothing
  yield xml(sheetStart(columns.widths));
  yield* records(rows, pages);
  yield SHEET_END;
}
