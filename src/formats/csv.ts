import { BOM, csvHeader } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import type { Cursor } from '../responses/cursor.ts';
import type { ExportFormat } from './file-format.ts';
import { type LongOptions, longTable } from './long-table.ts';

interface CsvQuery extends LongOptions {
  readonly after?: Cursor | undefined;
  readonly bom?: boolean | undefined;
}

/** A CSV file with a record for each response. */
export const csv: ExportFormat<CsvQuery> = {
  type: CSV,
  prepare: (_, query) => {
    const { names, format } = longTable(query, false);
    return {
      format,
      async *write(pages) {
        // A client that resumes a download already has the header.
        if (!query.after) {
          if (query.bom) yield BOM;
          yield csvHeader(names);
        }
        for await (const { data } of pages) yield data;
      },
    };
  },
};
