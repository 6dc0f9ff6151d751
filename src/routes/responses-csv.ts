import { csv } from '../formats/csv.ts';
import { endpoint } from '../http/endpoint.ts';
import { SELECTION, WIDE, checkLayout, refusedByFiles } from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent } from '../openapi/responses.ts';
import { sendFile } from '../read/send-file.ts';

/** GET /responses/csv: a survey's responses, as one streamed CSV file. */
export const responsesCsv = endpoint({
  path: '/responses/csv',
  operationId: 'exportCsv',
  summary: 'All responses as a CSV file',
  description: 'Streams all of a survey’s responses, or those that pass the filters, as one file.',
  query: [
    ...SELECTION,
    'after',
    'count',
    'bom',
    'safe',
    'metadata',
    'arm',
    'omit',
    'layout',
    ...WIDE,
  ],
  refused: refusedByFiles,
  body: fileContent('text/csv', examples.csv),
  headers: ['X-Total-Count'],

  async handle(c, query) {
    checkLayout(query, c.req.queries());
    return sendFile(c, query, csv);
  },
});
