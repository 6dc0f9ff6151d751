import type { ExportFormat } from './file-format.ts';
import { jsonPages } from './page-format.ts';

/** A file with a JSON object on each line: https://github.com/ndjson/ndjson-spec */
export const ndjson: ExportFormat<unknown> = {
  type: { extension: 'ndjson', contentType: 'application/x-ndjson; charset=utf-8' },
  prepare: () => ({
    format: jsonPages({ after: '\n' }),
    async *write(pages) {
      for await (const { data } of pages) yield data;
    },
  }),
};
