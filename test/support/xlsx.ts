import assert from 'node:assert/strict';
import { crc32, inflateRawSync } from 'node:zlib';

/**
 * Reads the central directory of a ZIP file:
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT sections 4.3.12 to 4.3.16
 */
export function listZip(file: Buffer) {
  const end = file.length - 22; // it has no comment
  assert(file.readUInt32LE(end) === 0x06054b50, 'no end of central directory');
  let at = file.readUInt32LE(end + 16);
  const entries = Array.from({ length: file.readUInt16LE(end + 10) }, () => {
    assert(file.readUInt32LE(at) === 0x02014b50, 'no central directory header');
    const nameEnd = at + 46 + file.readUInt16LE(at + 28);
    const extraLength = file.readUInt16LE(at + 30);
    const isZip64 = extraLength > 0;
    if (isZip64) assert(file.readUInt32LE(nameEnd) === ((24 << 16) | 1), 'no ZIP64 extra field');
    const number = (position: number, index: number) =>
      isZip64 ? Number(file.readBigUInt64LE(nameEnd + 4 + 8 * index)) : file.readUInt32LE(position);
    const entry = {
      name: file.toString('latin1', at + 46, nameEnd),
      size: number(at + 24, 0),
      compressedSize: number(at + 20, 1),
      crc: file.readUInt32LE(at + 16),
      /** The position of its local header. */
      offset: number(at + 42, 2),
      /** The version needed to extract it, times 10. */
      version: file.readUInt16LE(at + 6),
    };

    at = nameEnd + extraLength;
    return entry;
  });

  assert(
    at === end && file.readUInt32LE(end + 12) === end - file.readUInt32LE(end + 16),
    'a central directory of another size',
  );

  return entries;
}

/** The contents of a ZIP file by name, checked against everything the file repeats about them. */
export function readZip(file: Buffer): Map<string, Buffer> {
  return new Map(
    listZip(file).map(({ name, size, compressedSize, crc, offset }) => {
      assert(
        file.readUInt32LE(offset) === 0x04034b50 && file.readUInt16LE(offset + 6) === 8,
        'no local header',
      );

      const nameEnd = offset + 30 + file.readUInt16LE(offset + 26);
      assert(
        file.toString('latin1', offset + 30, nameEnd) === name,
        'another name in the local header',
      );

      const end = nameEnd + file.readUInt16LE(offset + 28) + compressedSize;
      const descriptor = [0x08074b50, crc, compressedSize, size].map((_, i) =>
        file.readUInt32LE(end + 4 * i),
      );

      assert(
        String(descriptor) === String([0x08074b50, crc, compressedSize, size]),
        'another data descriptor',
      );

      const data = inflateRawSync(file.subarray(end - compressedSize, end));
      assert(data.length === size && crc32(data) === crc, 'other data');
      return [name, data];
    }),
  );
}

/** What precedes the text of a cell that is a number. */
export const NUMBER = '№';

/**
 * The texts of a worksheet's cells by row, as Excel reads them. Empty cells are null, those at the
 * end of a row left out. {@link NUMBER} precedes numbers.
 *
 * @param sheet counted from 1
 */
export function readWorkbook(file: Buffer, sheet = 1): (string | null)[][] {
  return readRows(readZip(file).get(`xl/worksheets/sheet${sheet}.xml`)?.toString('utf8') ?? '');
}

const ROW = /<row r="(\d+)">(.*?)<\/row>/gsy;
const CELL =
  /<c r="([A-Z]+)(\d+)"(?: s="2"><v>([^<]+)<\/v>|( s="1")? t="(?:str"><v( xml:space="preserve")?>([^<]+)<\/v>|inlineStr"><is><t( xml:space="preserve")?>([^<]+)<\/t><\/is>))<\/c>/gy;
/** https://www.w3.org/TR/xml/#charsets */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&#13;': '\r',
};

/** The rows of a worksheet's XML, in which it accepts only the markup that the service writes. */
function readRows(xml: string): (string | null)[][] {
  assert(!NOT_XML.test(xml), 'a character that XML cannot hold');
  const rows = xml.replace(/^.*<sheetData>/s, '').replace(/<\/sheetData><\/worksheet>$/, '');
  const found = Array.from(rows.matchAll(ROW));
  assert(found.map(([row]) => row).join('') === rows, 'markup that is not a row');
  return found.map(([, number, cells = ''], i) => {
    assert(number === String(i + 1), `row ${number} at the place of row ${i + 1}`);
    const texts: (string | null)[] = [];
    const all = Array.from(cells.matchAll(CELL));
    assert(all.map(([cell]) => cell).join('') === cells, `markup that is not a cell: ${cells}`);
    for (const [
      ,
      letters = '',
      row,
      value,
      isBold,
      isSpacedText,
      text,
      isSpacedInline,
      inline = '',
    ] of all) {
      assert(
        row === number && (isBold !== undefined) === (i === 0),
        `another row or style at ${letters}${row}`,
      );

      const column = columnOf(letters);
      assert(column >= texts.length, `${letters}${row} after column ${texts.length}`);
      while (texts.length < column) texts.push(null);
      if (value !== undefined) {
        texts.push(NUMBER + value);
        continue;
      }

      checkKind(text ?? inline, text !== undefined, (isSpacedText ?? isSpacedInline) !== undefined);
      texts.push(decoded(text ?? inline));
    }

    return texts;
  });
}

/** @param letters A to Z, AA to ZZ, and so on. @returns the column, counted from 0 */
const columnOf = (letters: string) =>
  Array.from(letters).reduce((sum, letter) => 26 * sum + parseInt(letter, 36) - 9, 0) - 1;

/** What programs need to read a text: see src/formats/xlsx/sheet.ts. */
function checkKind(content: string, isText: boolean, isSpaced: boolean): void {
  const space = String.raw`(?:[\t\n\r \u2000-\u200b\u2028\u2029]|&#13;)`;
  assert(
    isSpaced || !new RegExp(`^${space}|${space}$`).test(content),
    `a text that is trimmed: ${content}`,
  );

  assert(!isText || !/_x[\da-f]{4}_|&amp;/i.test(content), `not a plain text: ${content}`);
}

function decoded(content: string): string {
  return content
    .replaceAll(/\r\n?/g, '\n') // https://www.w3.org/TR/xml/#sec-line-ends
    .replaceAll(/&[^;]*;?/g, (entity) => {
      assert(entity in ENTITIES, `another entity: ${entity}`);
      return ENTITIES[entity] as string;
    })
    .replaceAll(/_x([\da-f]{4})_/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
}
