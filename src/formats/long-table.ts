import { metadataValue } from '../db/responses.ts';
import { writeHeader } from '../encode/records.ts';
import type { Values } from '../http/parameters.ts';
import { CSV_COLUMNS } from '../responses/columns.ts';
import type { Table, WriteRecords } from './file-format.ts';
import { csvPages } from './page-format.ts';

/** As large as a write to the ZIP file of a workbook. */
const CHUNK_BYTES = 256 * 1024;

/** The parameters of a table with a record for each response. */
export type LongOptions = Partial<Values<'metadata' | 'safe'>>;

/** A table with a record for each response. @param cells whether its pages have the positions of their cells, which `records` needs */
export function longTable({ metadata = [], safe }: LongOptions, cells: boolean): Table {
  const columns = [...CSV_COLUMNS, ...metadata.map(metadataValue)];
  const names = [...CSV_COLUMNS, ...metadata.map(metadataName)];
  return { names, format: csvPages({ columns, cells, safe }), records: recordsOfRows(names) };
}

/** The name of the column for a key of the metadata. */
export const metadataName = (key: string) => `metadata.${key}`;

/** The records of a table that has the rows of its pages. @param names of its columns */
export const recordsOfRows = (names: readonly string[]): WriteRecords =>
  async function* records(writer, pages) {
    const { output } = writer;
    writeHeader(writer, names);
    for await (const page of pages) {
      for (let row = 0; row + names.length < page.cells.length; row += names.length) {
        writer.cells(page, row, row + names.length);
        writer.endRecord();
        if (output.length >= CHUNK_BYTES) yield output.take();
      }
    }
    yield output.take();
  };
