import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecordNumberer } from '../../tools/import/number-records.ts';

function number(csv: string, pieceSize: number, delimiter = ','): string {
  const numberer = new RecordNumberer(delimiter);
  const bytes = Buffer.from(csv);
  const output: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += pieceSize)
    output.push(numberer.push(bytes.subarray(start, start + pieceSize)));
  numberer.end();
  return Buffer.concat(output).toString();
}

const special = fc.constantFrom('"', ',', '\n', '\r', '\r\n', '\\.', '\uFEFF', 'é', '👩‍👩‍👧', 'x', ' ');
const field = fc.option(fc.array(special, { maxLength: 6 }).map((parts) => parts.join('')));
const table = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 });

function quoted(value: string | null): string {
  return value === null ? '' : `"${value.replaceAll('"', '""')}"`;
}

test('prefixes each record with the line on which it starts, however the file is split', () => {
  fc.assert(
    fc.property(table, fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 9 }), (rows, end, pieceSize) => {
      const records = rows.map((row) => row.map(quoted).join(','));
      const expected = records.map((record, index) => {
        const before = records.slice(0, index).map((each) => each + end);
        return `${before.join('').split('\n').length + 1},${record}\n`;
      });
      expect(number(records.map((record) => record + end).join(''), pieceSize)).toBe(expected.join(''));
    }),
    { numRuns: 500, seed: 12 },
  );
});

test('separates the number with the delimiter of the file', () => {
  expect(number('a;"b;c"\n', 100, ';')).toBe('2;a;"b;c"\n');
});

test('numbers a last record without a line break', () => {
  expect(number('a,b\n"c",', 1)).toBe('2,a,b\n3,"c",');
});

test.each([
  ['a,b\n"c"d,e\n', 'line 3: there is text after a closing quote'],
  ['a,b\n"c"\td,e\n', 'line 3: there is text after a closing quote'],
  ['a,b\n"c" ,e\n', 'line 3: there is text after a closing quote'],
  ['a,b\nc"d"e,f\n', 'line 3: there is a quote inside a field'],
  ['a,b\nc"",f\n', 'line 3: there is a quote inside a field'],
  ['a,b\n ""c"",f\n', 'line 3: there is a quote inside a field'],
  ['a,b\n"c\nd",e\r', 'line 3: there is a carriage return outside quotes'],
  ['a,b\rc,d\n', 'line 2: there is a carriage return outside quotes'],
  ['a,b\r\r\n', 'line 2: there is a carriage return outside quotes'],
  ['a,b\r\nc,"d\n""\n', 'line 3: a quote is never closed'],
])('refuses %j, however it is split', (csv, message) => {
  for (let pieceSize = 1; pieceSize <= csv.length; pieceSize += 1)
    expect(() => number(csv, pieceSize)).toThrow(message);
});

test('refuses a record longer than 64 MiB without buffering it', () => {
  const numberer = new RecordNumberer(',');
  const piece = Buffer.alloc(1024 * 1024, 'x');
  numberer.push(Buffer.from('a,b\n"'));
  expect(() => {
    for (let index = 0; index < 64; index += 1) numberer.push(piece);
  }).toThrow('line 3: is longer than 64 MiB');
});
