import { metadataValue } from '../db/responses.ts';
import { BOM, csvHeader } from '../encode/records.ts';
import { CSV } from '../http/attachment.ts';
import { CSV_COLUMNS } from '../responses/columns.ts';
import type { Cursor } from '../responses/cursor.ts';
import type { ExportFormat } from './file-format.ts';
import { csvPages } from './page-format.ts';

interface CsvQuery {
  readonly metadata?: readonly string[] | undefined;
  readonly after?: Cursor | undefined;
  readonly safe?: boolean | undefined;
  readonly bom?: boolean | undefined;
}

/** A CSV file with a record for each response. */
export const csv: ExportFormat<CsvQuery> = {
  type: CSV,
  prepare: (_, query) => {
    const { metadata = [], safe } = query;
    return {
      format: csvPages({ columns: [...CSV_COLUMNS, ...metadata.map(metadataValue)], safe }),
      async *write(pages) {
        // A client that resumes a download already has the header.
        if (!query.after) {
          if (query.bom) yield BOM;
          yield csvHeader([...CSV_COLUMNS, ...metadata.map((key) => `metadata.${key}`)]);
        }
        for await (const { data } of pages) yield data;
      },
    };
  },
};
