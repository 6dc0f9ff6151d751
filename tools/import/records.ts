import { isUtf8 } from 'node:buffer';
import { BadLine } from './bad-line.ts';

const LF = 0x0a;
const QUOTE = 0x22;

/**
 * The service never sends a longer response (docs/export.md, "What runs at a time"). Besides, a
 * quote that is never closed would have the rest of the file collected in memory.
 */
const MAX_RECORD_BYTES = 27 * 1024 * 1024;

/** A record of a CSV file. */
export interface CsvRecord {
  /** The line on which it begins. */
  readonly line: number;
  /** Without the line break at its end. */
  readonly text: string;
}

/**
 * Splits a CSV file into records.
 *
 * @param content the file's bytes, split anywhere
 * @returns the records that end in a chunk, at least one at a time
 * @throws BadLine for a record that is not UTF-8, or is longer than 27 MiB
 */
export async function* recordsOf(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<CsvRecord[], void> {
  let pieces: Uint8Array[] = []; // of the record that has not ended
  let isQuoted = false;
  let line = 1;
  let nextLine = 1;
  for await (const chunk of content) {
    const records: CsvRecord[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (chunk[at] === QUOTE) isQuoted = !isQuoted;
      if (chunk[at] !== LF) continue;
      nextLine += 1;
      if (isQuoted) continue;
      records.push({ line, text: textOf([...pieces, chunk.subarray(start, at + 1)], line) });
      [pieces, start, line] = [[], at + 1, nextLine];
    }

    pieces.push(chunk.subarray(start));
    if (pieces.reduce((sum, { length }) => sum + length, 0) > MAX_RECORD_BYTES)
      throw new BadLine(
        line,
        'is longer than 27 MiB, the most that the service sends: is a quote missing its closing quote?',
      );
    if (records.length > 0) yield records;
  }

  if (pieces.some(({ length }) => length > 0)) yield [{ line, text: textOf(pieces, line) }];
}

function textOf(pieces: readonly Uint8Array[], line: number): string {
  const bytes = Buffer.concat(pieces);
  if (!isUtf8(bytes))
    throw new BadLine(line, 'is not valid UTF-8: save the file as UTF-8 and try again');
  return bytes.toString().replace(/\r?\n$/, '');
}

/**
 * Reads the fields of a record. Stricter than COPY, which accepts `"a"b` and `a"b"` as `ab`.
 *
 * @returns null for an empty field without quotes
 * @throws BadLine for a misplaced quote, or a carriage return outside quotes
 */
export function fieldsOf({ line, text }: CsvRecord): (string | null)[] {
  const fields: (string | null)[] = [];
  for (let start = 0; start <= text.length;) {
    let unquoted = start;
    while (text[unquoted] === '"') {
      // two quotes inside quotes close and open again
      const close = text.indexOf('"', unquoted + 1);
      if (close === -1)
        throw new BadLine(
          line,
          'a quote is never closed: if the file is cut off here, export it again',
        );
      unquoted = close + 1;
    }

    const isQuoted = unquoted > start;
    const next = text.indexOf(',', unquoted);
    const end = next === -1 ? text.length : next;
    const rest = text.slice(unquoted, end);
    if (isQuoted && rest !== '')
      throw new BadLine(
        line,
        'there is text after a closing quote (write a quote inside quotes as "")',
      );
    if (rest.includes('"'))
      throw new BadLine(line, 'there is a quote inside a field that does not start with one');
    if (rest.includes('\r'))
      throw new BadLine(
        line,
        'there is a carriage return outside quotes that is not followed by a line feed, which must end each line',
      );
    fields.push(
      isQuoted ? text.slice(start + 1, unquoted - 1).replaceAll('""', '"') : rest || null,
    );

    start = end + 1;
  }

  return fields;
}
