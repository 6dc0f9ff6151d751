import { TextDecoder } from 'node:util';
import { csvCell } from '../../src/encode/csv-cell.ts';
import { Mismatch } from './expect.ts';

/**
 * Reads a CSV file in the service's dialect, without keeping it in memory.
 *
 * @param columns the number of cells of every record; by default, of the first
 * @returns its records: the text of each cell; a null and an empty text are both `''`
 * @throws Mismatch if it is not UTF-8, if records have different numbers of cells, or if it ends within a record
 */
export async function* csvRecords(chunks: AsyncIterable<Buffer>, columns = 0): AsyncGenerator<string[], void, void> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let number = 1;
  for await (const chunk of chunks) {
    text += decode(utf8, chunk);
    let at = 0;
    columns ||= columnsOf(text);
    if (columns === 0) continue;
    for (let record; (record = recordAt(text, at, columns, number)); number++) {
      at = record.end;
      yield record.cells;
    }
    text = text.slice(at);
  }
  if (text !== '' || decode(utf8) !== '') throw new Mismatch(`the CSV file ends within record ${number}`);
}

/** The number of cells of the first record; 0 if it is not complete. */
function columnsOf(text: string): number {
  let columns = 1;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') isQuoted = !isQuoted;
    else if (char === ',' && !isQuoted) columns++;
    else if (char === '\n' && !isQuoted) return columns;
  }
  return 0;
}

/** @param number of the record, for messages. @returns undefined if the record is not complete */
function recordAt(text: string, start: number, columns: number, number: number) {
  const cells: string[] = [];
  let at = start;
  for (let column = 1; column <= columns; column++) {
    const mark = column < columns ? ',' : '\n';
    const end = endOfCell(text, at, mark);
    if (end < 0) return undefined;
    const cell = textOf(text.slice(at, end));
    if (cell === undefined || text[end] !== mark)
      throw new Mismatch(`record ${number} of the CSV file has not ${columns} cells, or wrong quotes`);
    cells.push(cell);
    at = end + 1;
  }
  return { cells, end: at };
}

/** @returns the cell without its quotes; undefined unless it is quoted as the service does */
function textOf(cell: string): string | undefined {
  const text = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
  return cell === '' || csvCell(text) === cell ? text : undefined;
}

function decode(utf8: TextDecoder, chunk?: Buffer): string {
  try {
    return utf8.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw new Mismatch('the CSV file is not UTF-8');
  }
}

const QUOTE = '"'.charCodeAt(0);

/**
 * Finds the end of a cell in well-formed CSV.
 *
 * @param at the position of the cell's first character
 * @param mark what ends the cell: a comma, or LF for the last cell of a record
 * @returns the position of the mark; -1 if the text ends before it
 */
function endOfCell(csv: string, at: number, mark: ',' | '\n'): number {
  if (csv.charCodeAt(at) !== QUOTE) return csv.indexOf(mark, at);
  for (let quote = csv.indexOf('"', at + 1); quote >= 0; quote = csv.indexOf('"', quote + 2)) {
    // A doubled quote is a character of the cell; the first single one ends it.
    if (csv.charCodeAt(quote + 1) !== QUOTE) return quote + 1 < csv.length ? quote + 1 : -1;
  }
  return -1;
}
