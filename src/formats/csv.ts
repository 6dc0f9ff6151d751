import { BOM, CsvRecords, csvHeader } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import type { Values } from '../http/parameters.ts';
import type { ExportFormat } from './file-format.ts';
import { longTable } from './long-table.ts';
import { type WideOptions, wideTable } from './wide/table.ts';

type CsvQuery = WideOptions & Partial<Values<'layout' | 'omit' | 'bom' | 'after'>>;

/**
 * A CSV file with a record for each response or, in the wide layout, for each participant and chain
 * of forms.
 */
export const csv: ExportFormat<CsvQuery> = {
  type: CSV,

  async prepare(selection, query, db) {
    const isWide = query.layout === 'wide';
    const table = isWide ? await wideTable(selection, query, db) : longTable(query, false);

    return {
      ...table,
      async *write(pages, holdRecord) {
        // A client that resumes a download already has the header.
        if (!query.after) {
          if (query.bom) yield BOM;
          yield csvHeader(table.names);
        }

        if (isWide || query.arm) yield* table.records(new CsvRecords(), pages, holdRecord);
        else for await (const { data } of pages) yield data;
      },
    };
  },
};
