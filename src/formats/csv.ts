import { utf8 } from '../encode/bytes.ts';
import { CsvRecords, csvHeader } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import type { ExportFormat } from './file-format.ts';
import { longTable } from './long-table.ts';
import { wideTable } from './wide/table.ts';

/**
 * A CSV file with a record for each response or, in the wide layout, for each participant and chain
 * of forms.
 */
export const csv: ExportFormat = {
  type: CSV,

  async prepare(selection, query, db, holdRecord) {
    const isWide = query.layout === 'wide';
    const table = isWide
      ? await wideTable(selection, query, db, holdRecord)
      : longTable(query, false);

    return {
      ...table,
      async *write(pages) {
        // A client that resumes a download already has the header.
        if (!query.after) {
          if (query.bom) yield utf8.encode('\uFEFF');
          yield csvHeader(table.names);
        }

        if (isWide || query.arm) yield* table.records(new CsvRecords(), pages);
        else for await (const { data } of pages) yield data;
      },
    };
  },
};
