import { BOM, CsvRecords, csvHeader } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import type { Values } from '../http/parameters.ts';
import type { ExportFormat } from './file-format.ts';
import { CHUNK_BYTES, type LongOptions, longTable } from './long-table.ts';
import { PARTICIPANT_BYTES, type WideOptions, wideTable } from './wide/table.ts';

/** A CSV file with a record for each response. */
export const csv: ExportFormat<LongOptions & Partial<Values<'bom' | 'after'>>> = {
  type: CSV,
  prepare: (_, query) => {
    const { names, format, records } = longTable(query, false);
    return {
      format,
      async *write(pages, reserveMemory) {
        // A client that resumes a download already has the header.
        if (!query.after) {
          if (query.bom) yield BOM;
          yield csvHeader(names);
        }
        if (query.arm) {
          await reserveMemory(CHUNK_BYTES);
          yield* records(new CsvRecords(), pages, reserveMemory);
        } else {
          for await (const { data } of pages) yield data;
        }
      },
    };
  },
};

/** A CSV file with a record for each participant and chain of forms. */
export const wideCsv: ExportFormat<WideOptions & Partial<Values<'bom'>>> = {
  type: CSV,
  memoryBytes: PARTICIPANT_BYTES,
  async prepare(selection, query, ...database) {
    const { records, ...table } = await wideTable(selection, query, ...database);
    return {
      ...table,
      async *write(pages, reserveMemory) {
        if (query.bom) yield BOM;
        yield csvHeader(table.names);
        yield* records(new CsvRecords(), pages, reserveMemory);
      },
    };
  },
};
