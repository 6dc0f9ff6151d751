const LF = 10;
const QUOTE = 34;

/** The columns of the CSV file that make a cursor, in its order: docs/api.md, "Cursors". */
const CURSOR_COLUMNS = ['timestamp', 'userid', 'question_ref', 'surveyid'];

/**
 * Separates the complete records of a file from the incomplete one at its end, while the file arrives.
 *
 * @param {import('../downloads.mjs').Order['format']} format of `other`, every byte counts as complete
 * @param {string[]} known the columns of a CSV file that continues one with a header; empty if the file has a header
 */
export function createRecords(format, known) {
  const isCsv = format === 'csv' || format === 'wide';
  let columns = known;
  let count = 0;
  let isQuoted = false;
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
      /** Where records end in the chunk: the first, the last but one, and the last. */
      let first = 0;
      let start = 0;
      let end = 0;
      for (let i = 0; i < chunk.length; i++) {
        if (chunk[i] === QUOTE) isQuoted = isCsv && !isQuoted;
        else if (chunk[i] === LF && !isQuoted) {
          start = end;
          end = i + 1;
          first ||= end;
          count++;
        }
      }
      if (end === 0) {
        incomplete.push(chunk);
        return [];
      }
      const complete = [...incomplete, chunk.subarray(0, end)];
      last = start === 0 ? complete : [chunk.subarray(start, end)];
      if (isCsv && columns.length === 0) {
        columns = cells(decode([...incomplete, chunk.subarray(0, first)]));
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
      const values = cells(decode(last));
      const json = JSON.stringify([1, ...CURSOR_COLUMNS.map((name) => values[columns.indexOf(name)])]);
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

/** Reads the cells of a CSV record. @param {string} record with its line end */
function cells(record) {
  const values = [];
  for (let at = 0, end = 0; at < record.length; at = end + 1) {
    if (record[at] === '"') {
      end = record.indexOf('"', at + 1) + 1;
      while (record[end] === '"') end = record.indexOf('"', end + 1) + 1;
      values.push(record.slice(at + 1, end - 1).replaceAll('""', '"'));
    } else {
      const comma = record.indexOf(',', at);
      end = comma < 0 ? record.length - 1 : comma;
      values.push(record.slice(at, end));
    }
  }
  return values;
}
