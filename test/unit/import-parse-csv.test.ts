import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeUtf8 } from '../../tools/import/decode-utf8.ts';
import { type CsvRecord, parseCsv } from '../../tools/import/parse-csv.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function parse(csv: string, pieceSize: number): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  for await (const some of parseCsv(decodeUtf8(inPieces(Buffer.from(csv), pieceSize)))) records.push(...some);
  return records;
}

const special = fc.constantFrom('"', ',', '\n', '\r', '\r\n', '\\.', '\uFEFF', 'é', '👩‍👩‍👧', 'x', ' ');
const field = fc.option(fc.array(special, { maxLength: 6 }).map((parts) => parts.join('')));
const table = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 });

function quoted(value: string | null): string {
  return value === null ? '' : `"${value.replaceAll('"', '""')}"`;
}

test('reads what was written, with the line each record starts on, however the file is cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 9 }),
      async (rows, end, pieceSize) => {
        const lines = rows.map((row) => row.map(quoted).join(',') + end);
        const expected = rows.map((fields, index) => ({
          line: lines.slice(0, index).join('').split('\n').length,
          fields,
        }));
        expect(await parse(lines.join(''), pieceSize)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});

test('takes an empty field with quotes for an empty text, one without for null', async () => {
  expect(await parse('"",,a', 100)).toEqual([{ line: 1, fields: ['', null, 'a'] }]);
});

test.each([1, 2, 3, 4, 5, 100])('finds what is not UTF-8 in pieces of %i bytes', async (size) => {
  const bytes = Buffer.concat([Buffer.from('é\n👩\n'), Buffer.from([0xe2, 0x82]), Buffer.from('\nx')]);
  const decode = async (): Promise<void> => {
    for await (const text of decodeUtf8(inPieces(bytes, size))) void text;
  };
  await expect(decode()).rejects.toThrow('line 3: is not valid UTF-8');
});
