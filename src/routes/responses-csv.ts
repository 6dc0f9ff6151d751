import { csv } from '../formats/csv.ts';
import { wideCsv } from '../formats/wide-csv.ts';
import { endpoint } from '../http/endpoint.ts';
import { checkLayout } from '../http/check-layout.ts';
import {
  after,
  columns,
  count,
  csvOptions,
  filters,
  layout,
  metadata,
  refusedByFiles,
  survey,
  wide,
} from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent, fileResponse, streamedResponses, surveyResponses } from '../openapi/responses.ts';
import { sendFile } from '../read/send-file.ts';

/** GET /responses/csv: a survey's responses, as one streamed CSV file. */
export const responsesCsv = endpoint({
  path: '/responses/csv',
  operationId: 'exportCsv',
  tags: ['Responses'],
  summary: 'All responses as a CSV file',
  description: 'Streams all of a survey’s responses, or those that pass the filters, as one file.',
  query: {
    ...survey,
    ...filters,
    ...after,
    ...count,
    ...csvOptions,
    ...metadata,
    ...layout,
    ...wide,
    ...columns,
  },
  refused: refusedByFiles,
  responses: {
    ...surveyResponses,
    ...streamedResponses,
    200: fileResponse(fileContent('text/csv', examples.csv), 'X-Total-Count'),
  },

  async handle(c, query) {
    checkLayout(query);
    return query.layout === 'wide' ? sendFile(c, query, wideCsv) : sendFile(c, query, csv);
  },
});
