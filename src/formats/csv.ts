import { BOM, CsvRecords, csvHeader } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import type { Values } from '../http/parameters.ts';
import type { ExportFormat } from './file-format.ts';
import { CHUNK_BYTES, longTable } from './long-table.ts';
import { PARTICIPANT_BYTES, type WideOptions, wideTable } from './wide/table.ts';

type CsvQuery = WideOptions & Partial<Values<'layout' | 'omit' | 'bom' | 'after'>>;

/**
 * A CSV file with a record for each response or, in the wide layout, for each participant and chain
 * of forms.
 */
export const csv: ExportFormat<CsvQuery> = {
  type: CSV,

  memoryBytes({ layout, arm }) {
    if (layout === 'wide') return PARTICIPANT_BYTES;
    return arm ? CHUNK_BYTES : 0;
  },

  async prepare(selection, query, db) {
    const isWide = query.layout === 'wide';
    const table = isWide ? await wideTable(selection, query, db) : longTable(query, false);

    return {
      ...table,
      async *write(pages, reserveMemory) {
        // A client that resumes a download already has the header.
        if (!query.after) {
          if (query.bom) yield BOM;
          yield csvHeader(table.names);
        }

        if (isWide || query.arm) yield* table.records(new CsvRecords(), pages, reserveMemory);
        else for await (const { data } of pages) yield data;
      },
    };
  },
};
