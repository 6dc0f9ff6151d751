import { type Column, metadataValue, seed } from '../db/responses.ts';
import { type Arm, parseArm } from '../responses/arm.ts';
import { CSV_COLUMNS } from '../responses/columns.ts';
import { writeArms } from './arm-cells.ts';
import type { FileQuery, Table, WriteRecords } from './file-format.ts';
import { csvPages, namesWithout } from './page-format.ts';

/** Records are written in chunks of this size, that of the writes to a workbook's ZIP file. */
export const CHUNK_BYTES = 256 * 1024;

/**
 * A table with a record for each response.
 *
 * @param cells whether pages are read with the positions of their cells, without which `records`
 * cannot be used
 * @throws ApiError 400 for columns that cannot be omitted
 */
export function longTable({ omit = [], safe, ...query }: FileQuery, cells: boolean): Table {
  const added = addedColumns(query);
  const own = namesWithout(CSV_COLUMNS, omit, added.names.length);
  const format = csvPages({
    columns: [...own, ...added.columns],
    cells: cells || added.arms.length > 0,
    safe,
  });

  return {
    names: [...own, ...added.names],
    format,
    records: recordsOfRows(own.length + added.firstArm, added.arms),
  };
}

/**
 * The columns of metadata keys and treatment arms: their names, and the columns to read, those of
 * {@link writeArms} among them.
 */
export function addedColumns({ metadata = [], arm = [] }: FileQuery) {
  return {
    names: [...metadata.map((key) => `metadata.${key}`), ...arm.map((name) => `arm.${name}`)],
    columns: [
      ...[...metadata, ...arm].map(metadataValue),
      ...(arm.length > 0 ? [seed] : []),
    ] satisfies Column[],
    arms: arm.map((name) => parseArm(name) as Arm),
    firstArm: metadata.length,
  };
}

/**
 * Writes each row of the pages as a record.
 *
 * @param copied the number of a row's cells, without those of arms
 */
export const recordsOfRows = (copied: number, arms: readonly Arm[] = []): WriteRecords =>
  async function* records(writer, pages) {
    const { output } = writer;
    const columns = copied + (arms.length > 0 ? arms.length + 1 : 0);

    for await (const page of pages) {
      for (let row = 0; row + columns < page.cells.length; row += columns) {
        if (copied > 0) writer.cells(page, row, row + copied);
        if (arms.length > 0) writeArms(writer, page, row + copied, arms);
        writer.endRecord();
        if (output.length >= CHUNK_BYTES) yield output.take();
      }
    }
    yield output.take();
  };
