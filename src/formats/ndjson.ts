import type { Values } from '../http/parameters.ts';
import { JSON_MEMBERS } from '../responses/columns.ts';
import { CURSOR_COLUMNS } from '../responses/cursor.ts';
import type { ExportFormat } from './file-format.ts';
import { jsonPages, namesWithout } from './page-format.ts';

const MEMBERS = JSON_MEMBERS.map(({ name }) => name);

/** A file with a JSON object on each line: https://github.com/ndjson/ndjson-spec */
export const ndjson: ExportFormat<Partial<Values<'omit'>>> = {
  type: { extension: 'ndjson', contentType: 'application/x-ndjson; charset=utf-8' },
  prepare: (_, { omit = [] }) => {
    // A token has the values of a cursor's members.
    const withoutToken = CURSOR_COLUMNS.some((name) => omit.includes(name))
      ? [...omit, 'token']
      : omit;
    namesWithout(MEMBERS, withoutToken);
    return {
      format: jsonPages({ after: '\n', omit: withoutToken }),
      async *write(pages) {
        for await (const { data } of pages) yield data;
      },
    };
  },
};
