import { cellsOf, createRecordEnds } from '../../shared/csv.ts';

/**
 * The columns of the CSV file that make a cursor, in the cursor's order: docs/api.md, "Cursors".
 */
const CURSOR_COLUMNS = ['timestamp', 'userid', 'question_ref', 'surveyid'];

/** `csv`: the long layout; `wide`: CSV in the wide layout; `other`: a workbook, for instance. */
export type RecordFormat = 'csv' | 'ndjson' | 'wide' | 'other';

/** The records of a file that is arriving. */
export interface Records {
  /**
   * Takes the next bytes of the file.
   *
   * @returns the bytes up to the end of the last complete record that have not been returned before
   */
  readonly push: (chunk: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>[];
  /** Whether the bytes so far end with a complete record. */
  readonly isWhole: () => boolean;
  /** The number of complete records, without the header. */
  readonly count: () => number;
  /** The columns of a CSV file, as far as they are known. */
  readonly columns: () => readonly (string | null)[];
  /**
   * The cursor of the last complete record; empty if there is no record, or the format cannot be
   * resumed.
   */
  readonly cursor: () => string;
}

/**
 * Separates the complete records of a file from the incomplete one at its end, while the file
 * arrives.
 *
 * @param format of `other`, every byte counts as complete
 * @param known the columns of a CSV file that continues one with a header; empty if the file has a
 * header
 */
export function createRecords(format: RecordFormat, known: readonly (string | null)[]): Records {
  const isCsv = format === 'csv' || format === 'wide';
  const endsIn = createRecordEnds(isCsv);
  let columns = known;
  let count = 0;
  let incomplete: Uint8Array<ArrayBuffer>[] = [];
  let last: Uint8Array<ArrayBuffer>[] = [];

  return {
    push(chunk) {
      if (format === 'other') return [chunk];
      const ends = endsIn(chunk);
      const [first, end] = [ends[0], ends.at(-1)];
      if (end === undefined) {
        incomplete.push(chunk);
        return [];
      }

      count += ends.length;
      const complete = [...incomplete, chunk.subarray(0, end)];
      last = first === end ? complete : [chunk.subarray(ends.at(-2), end)];
      if (isCsv && columns.length === 0) {
        columns = cellsOf(decode([...incomplete, chunk.subarray(0, first)]));
        count--;
        if (first === end) last = [];
      }

      incomplete = [chunk.slice(end)];
      return complete;
    },

    isWhole: () => incomplete.every((piece) => piece.length === 0),
    count: () => count,
    columns: () => columns,

    cursor() {
      if (last.length === 0 || format === 'wide') return '';
      if (format === 'ndjson') {
        const { token } = JSON.parse(decode(last)) as { token: unknown };
        return String(token);
      }

      const cells = cellsOf(decode(last));
      const json = JSON.stringify([
        1,
        ...CURSOR_COLUMNS.map((name) => cells[columns.indexOf(name)]),
      ]);

      const binary = String.fromCharCode(...new TextEncoder().encode(json));
      return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    },
  };
}

/** Decodes UTF-8, without a byte order mark at its start. */
function decode(pieces: readonly Uint8Array<ArrayBuffer>[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('');
}
