import { BOM, CsvRecords } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import type { ExportFormat } from './file-format.ts';
import { PARTICIPANT_BYTES, type WideOptions, wideTable } from './wide/table.ts';

/** A CSV file with a record for each participant and chain of forms. */
export const wideCsv: ExportFormat<WideOptions & { readonly bom?: boolean | undefined }> = {
  type: CSV,
  memoryBytes: PARTICIPANT_BYTES,
  async prepare(selection, query, ...database) {
    const { records, ...table } = await wideTable(selection, query, ...database);
    return {
      ...table,
      async *write(pages, reserveMemory) {
        if (query.bom) yield BOM;
        yield* records(new CsvRecords(), pages, reserveMemory);
      },
    };
  },
};
