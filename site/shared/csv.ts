/* Reads the CSV that the service writes. `npm run verify` and the tests use it too. */

const [LF, QUOTE, COMMA] = [10, 34, 44];
/** No record of the service is longer. */
const MAX_RECORD_BYTES = 64_000_000;

/**
 * Finds the ends of records while a file arrives.
 *
 * @param hasQuotes whether an LF between quotes belongs to a cell, as in CSV; in NDJSON every LF
 * ends a record
 * @returns for each record that ends in the next chunk, the position after its LF
 */
export function createRecordEnds(hasQuotes = true): (chunk: Uint8Array) => number[] {
  let isQuoted = false;
  let last = LF;

  return (chunk) => {
    const ends: number[] = [];
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (byte === QUOTE) {
        // Quoted text begins at the start of a cell or, within it, with the second of two quotes. A
        // stray quote begins none: it would hide the ends of all following records.
        const previous = i === 0 ? last : chunk[i - 1];
        const canBegin = previous === LF || previous === COMMA || previous === QUOTE;
        isQuoted = hasQuotes && !isQuoted && canBegin;
      } else if (byte === LF && !isQuoted) ends.push(i + 1);
    }

    last = chunk.at(-1) ?? last;
    return ends;
  };
}

/**
 * Reads the complete records of a CSV file, each with its LF, in batches. What follows the last LF
 * is left out.
 *
 * @param file is never held as a whole; it is cancelled if not all records are taken
 * @param hasQuotes as in {@link createRecordEnds}
 * @throws RangeError if a record has more than 64 MB, as files that are no CSV can
 */
export async function* recordsOf(
  file: ReadableStream<Uint8Array<ArrayBuffer>>,
  hasQuotes = true,
): AsyncGenerator<Uint8Array<ArrayBuffer>[]> {
  const endsIn = createRecordEnds(hasQuotes);
  const reader = file.getReader();
  let incomplete: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;

      const records: Uint8Array<ArrayBuffer>[] = [];
      let start = 0;
      for (const end of endsIn(value)) {
        const record = value.subarray(start, end);
        records.push(size === 0 ? record : await join([...incomplete, record]));
        start = end;
        size = 0;
        incomplete = [];
      }

      incomplete.push(value.slice(start));
      size += value.length - start;
      if (size > MAX_RECORD_BYTES) throw new RangeError('a record is too long');

      yield records;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

const join = async (pieces: readonly Uint8Array<ArrayBuffer>[]) =>
  new Uint8Array(await new Blob([...pieces]).arrayBuffer());

/**
 * Reads the cells of a record.
 *
 * @param record with its LF
 * @returns null for an empty cell without quotes
 */
export function cellsOf(record: string): (string | null)[] {
  const cells: (string | null)[] = [];
  let start = 0;
  while (start < record.length) {
    const end = endOfCell(record, start);
    const cell = record.slice(start, end);
    start = end + 1;

    const isQuoted = cell.charCodeAt(0) === QUOTE;
    if (isQuoted) cells.push(cell.slice(1, -1).replaceAll('""', '"'));
    else cells.push(cell || null);
  }
  return cells;
}

/** The position of the comma or LF after a cell. Two quotes within one are a quote. */
function endOfCell(record: string, start: number): number {
  let at = start;
  while (record.charCodeAt(at) === QUOTE) {
    const closing = record.indexOf('"', at + 1);
    at = closing < 0 ? record.length : closing + 1;
  }

  const comma = record.indexOf(',', at);
  return comma < 0 ? record.length - 1 : comma;
}
