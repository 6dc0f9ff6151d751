import { armSeed, metadataValue } from '../db/responses.ts';
import { writeHeader } from '../encode/records.ts';
import type { Values } from '../http/parameters.ts';
import { type Arm, parseArm } from '../responses/arm.ts';
import { CSV_COLUMNS } from '../responses/columns.ts';
import type { Table, WriteRecords } from './file-format.ts';
import { namesWithout } from './omit.ts';
import { csvPages } from './page-format.ts';

/** As large as a write to the ZIP file of a workbook. */
const CHUNK_BYTES = 256 * 1024;

/** The parameters of a table with a record for each response. */
export type LongOptions = Partial<Values<'metadata' | 'arm' | 'omit' | 'safe'>>;

/**
 * A table with a record for each response.
 *
 * @param cells whether its pages have the positions of their cells, which `records` needs
 * @throws ApiError 400 for columns that cannot be omitted
 */
export function longTable({ omit = [], safe, ...options }: LongOptions, cells: boolean): Table {
  const added = addedColumns(options);
  const own = namesWithout(CSV_COLUMNS, omit, added.names.length);
  const names = [...own, ...added.names];
  const cellsOfArms = added.arms.flatMap(({ name }) => [metadataValue(name), armSeed(name)]);
  const columns = [...own, ...added.metadata, ...cellsOfArms];
  const arms = { arms: added.arms, first: own.length + added.metadata.length };
  const format = csvPages({ columns, cells: cells || arms.arms.length > 0, arms, safe });
  return { names, format, records: recordsOfRows(names) };
}

/** The columns of metadata keys and treatment arms: their names, and what is read for those of keys. */
export function addedColumns({ metadata = [], arm = [] }: Partial<Values<'metadata' | 'arm'>>) {
  return {
    names: [...metadata.map((key) => `metadata.${key}`), ...arm.map((name) => `arm.${name}`)],
    metadata: metadata.map(metadataValue),
    arms: arm.map((name) => parseArm(name) as Arm),
  };
}

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
