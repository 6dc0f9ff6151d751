import { describe, expect, test } from 'vitest';
import { csvRecords } from '../../tools/verify/csv-records.ts';

/** The records of a file that arrives in two pieces. */
async function read(file: Buffer, at = 0, columns?: number) {
  const records = [];
  for await (const record of csvRecords(piecesOf(file, at), columns)) records.push(record);
  return records;
}

async function* piecesOf(file: Buffer, at: number) {
  yield file.subarray(0, at);
  yield file.subarray(at);
}

test('reads nulls, empty texts, quotes and line ends, wherever the file is cut', async () => {
  const file = Buffer.from('a,b\n,""\n"""\n"",\r","é\n🌍"\n""",",""""\n');
  for (let at = 0; at <= file.length; at++)
    expect(await read(file, at)).toEqual([
      ['a', 'b'],
      [null, ''],
      ['"\n",\r', 'é\n🌍'],
      ['",', '"'],
    ]);
});

describe('refuses', () => {
  const wrong = 'record 2 of the CSV file has not 2 cells, or wrong quotes';
  const cut = 'the CSV file ends within record 2';
  test.each([
    ['a missing cell', 'x\n', wrong],
    ['a cell too many', 'x,y,z\n', wrong],
    ['an empty line', '\n', wrong],
    ['quotes that are not needed', '"x",y\n', wrong],
    ['a quote in a cell without quotes', 'x"y,z\n', wrong],
    ['a single quote in a cell with quotes', '"x"y",z\n', wrong],
    ['text after the closing quote', '"x,"y,z\n', wrong],
    ['a carriage return without quotes', 'x,y\r\n', wrong],
    ['an end within quotes', 'x,"y\n', cut],
    ['an end without LF', 'x,y', cut],
    ['Latin-1', Buffer.from('x,\xe9\n', 'latin1'), 'the CSV file is not UTF-8'],
  ])('%s, wherever the file is cut', async (_, record, message) => {
    const file = Buffer.concat([Buffer.from('a,b\n'), Buffer.from(record)]);
    for (let at = 0; at <= file.length; at++) await expect(read(file, at)).rejects.toThrow(message);
  });

  test('a record with other columns than a file that it continues', async () => {
    await expect(read(Buffer.from('x,y\n'), 0, 3)).rejects.toThrow('record 1 of the CSV file has not 3 cells');
  });
});
