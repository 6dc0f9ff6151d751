import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldsOf, recordsOf } from '../../tools/import/records.ts';

/** Reads a file that arrives in pieces. @returns the line and the fields of each record */
async function read(csv: string, pieceSize: number): Promise<[number, (string | null)[]][]> {
  const bytes = Buffer.from(csv);
  async function* pieces(): AsyncGenerator<Buffer, void> {
    for (let start = 0; start < bytes.length; start += pieceSize)
      yield bytes.subarray(start, start + pieceSize);
  }
  const found: [number, (string | null)[]][] = [];
  for await (const records of recordsOf(pieces()))
    for (const record of records) found.push([record.line, fieldsOf(record)]);
  return found;
}

const special = fc.constantFrom('"', ',', '\n', '\r', '\r\n', '\\.', '\uFEFF', 'é', '👩‍👩‍👧', 'x', ' ');
const field = fc.option(fc.array(special, { maxLength: 6 }).map((parts) => parts.join('')));
const table = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), {
  minLength: 1,
  maxLength: 6,
});

const quoted = (value: string | null) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`);

test('reads the fields of each record and the line on which it starts, however the file is split', async () => {
  const lineEnd = fc.constantFrom('\n', '\r\n');
  await fc.assert(
    fc.asyncProperty(table, lineEnd, fc.boolean(), fc.nat(8), async (rows, end, isEnded, more) => {
      const records = rows.map((row) => row.map(quoted).join(','));
      const expected = rows.map((row, i) => [
        [...records.slice(0, i), ''].join(end).split('\n').length,
        row,
      ]);
      expect(await read(records.join(end) + (isEnded ? end : ''), 1 + more)).toEqual(expected);
    }),
    { numRuns: 200, seed: 12 },
  );
});

test.each([
  ['a,b\n"c"d,e\n', 'line 2: there is text after a closing quote'],
  ['a,b\nc"d"e,f\n', 'line 2: there is a quote inside a field'],
  ['a,b\n"c\nd",e\r', 'line 2: there is a carriage return outside quotes'],
  ['a,b\rc,d\n', 'line 1: there is a carriage return outside quotes'],
  ['a,b\r\r\n', 'line 1: there is a carriage return outside quotes'],
  ['a,b\r\nc,"d\n""\n', 'line 2: a quote is never closed'],
])('refuses %j, however it is split', async (csv, message) => {
  for (let pieceSize = 1; pieceSize <= csv.length; pieceSize += 1)
    await expect(read(csv, pieceSize)).rejects.toThrow(message);
});

test('refuses a record longer than 27 MiB without reading the rest', async () => {
  async function* endless(): AsyncGenerator<Buffer, void> {
    yield Buffer.from('"');
    for (const piece = Buffer.alloc(1024 * 1024, 'x'); ;) yield piece;
  }
  await expect(recordsOf(endless()).next()).rejects.toThrow('line 1: is longer than 27 MiB');
});
