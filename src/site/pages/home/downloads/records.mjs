import { cellsOf, createRecordEnds } from '../../shared/csv.mjs';

/** The columns of the CSV file that make a cursor, in its order: docs/api.md, "Cursors". */
const CURSOR_COLUMNS = ['timestamp', 'userid', 'question_ref', 'surveyid'];

/**
 * Separates the complete records of a file from the incomplete one at its end, while the file arrives.
 *
 * @param {import('../downloads.mjs').DownloadRequest['format']} format of `other`, every byte counts as complete
 * @param {(string | null)[]} known the columns of a CSV file that continues one with a header; empty if the file has a header
 */
export function createRecords(format, known) {
  const isCsv = format === 'csv' || format === 'wide';
  const endsIn = createRecordEnds(isCsv);
  let columns = known;
  let count = 0;
  /** @type {Uint8Array<ArrayBuffer>[]} */
  let incomplete = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  let last = [];

  return {
    /**
     * Takes the next bytes of the file.
     *
     * @param {Uint8Array<ArrayBuffer>} chunk
     * @returns {Uint8Array<ArrayBuffer>[]} the bytes up to the end of the last complete record that have not been returned before
     */
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

    /** Whether the bytes so far end with a complete record. */
    isWhole: () => incomplete.every((piece) => piece.length === 0),

    /** The number of complete records, without the header. */
    count: () => count,

    /** The columns of a CSV file, as far as they are known. */
    columns: () => columns,

    /** The cursor of the last complete record; empty if there is no record, or the format cannot be resumed. */
    cursor() {
      if (last.length === 0 || format === 'wide') return '';
      if (format === 'ndjson') return String(JSON.parse(decode(last)).token);
      const cells = cellsOf(decode(last));
      const json = JSON.stringify([1, ...CURSOR_COLUMNS.map((name) => cells[columns.indexOf(name)])]);
      const binary = String.fromCharCode(...new TextEncoder().encode(json));
      return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    },
  };
}

/** Decodes UTF-8, without a byte order mark at its start. @param {Uint8Array<ArrayBuffer>[]} pieces */
function decode(pieces) {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('');
}
