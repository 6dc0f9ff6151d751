import { metadataValue } from '../../db/responses.ts';
import { writeHeader } from '../../encode/records.ts';
import { CSV_COLUMNS } from '../../responses/columns.ts';
import type { Table, WriteRecords } from '../file-format.ts';
import { csvPages } from '../page-format.ts';

/** As large as a write to the ZIP file: see zip.ts. */
const CHUNK_BYTES = 256 * 1024;

/** A table with a record for each response, as in a CSV file. @param keys of the metadata, each of which becomes a column */
export function longTable(keys: readonly string[] = []): Table {
  const columns = [...CSV_COLUMNS, ...keys.map(metadataValue)];
  const names = [...CSV_COLUMNS, ...keys.map((key) => `metadata.${key}`)];
  return { names, format: csvPages({ columns, cells: true }), records: recordsOfRows(names) };
}

/** The records of a table that has the rows of its pages. @param names of its columns */
export const recordsOfRows = (names: readonly string[]): WriteRecords =>
  async function* records(writer, pages) {
    writeHeader(writer, names);
    for await (const page of pages) {
      for (let row = 0; row + names.length < page.cells.length; row += names.length) {
        writer.cells(page, row, row + names.length);
        writer.endRecord();
        if (writer.length >= CHUNK_BYTES) yield writer.take();
      }
    }
    yield writer.take();
  };
