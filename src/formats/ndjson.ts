import { JSON_MEMBERS } from '../responses/columns.ts';
import { CURSOR_COLUMNS } from '../responses/cursor.ts';
import type { ExportFormat } from './file-format.ts';
import { jsonPages, namesWithout } from './page-format.ts';

/** A file with a JSON object on each line: https://github.com/ndjson/ndjson-spec */
export const ndjson: ExportFormat = {
  type: { extension: 'ndjson', contentType: 'application/x-ndjson; charset=utf-8' },

  prepare(_, { omit: names = [] }) {
    // A token contains the values of the cursor's columns.
    const hasOmitted = CURSOR_COLUMNS.some((name) => names.includes(name));
    const omit = hasOmitted ? [...names, 'token'] : names;
    namesWithout(
      JSON_MEMBERS.map(({ name }) => name),
      omit,
    );

    return {
      format: jsonPages({ after: '\n', omit }),
      async *write(pages) {
        for await (const { data } of pages) yield data;
      },
    };
  },
};
