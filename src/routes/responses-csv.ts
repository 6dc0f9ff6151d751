import { z } from '@hono/zod-openapi';
import { attachment } from '../http/attachment.ts';
import { csvHeader } from '../encode/csv-header.ts';
import { CSV_COLUMNS } from '../db/responses.ts';
import { endpoint } from '../http/endpoint.ts';
import { csvReader } from '../export/csv-reader.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { surveyResponses } from '../openapi/responses.ts';
import { after, count, csvFormat, filters, layout, survey } from '../http/params.ts';
import { exportFile } from './export-file.ts';
import { wideFile } from './wide-file.ts';

/** GET /responses/csv: a survey's responses, as one streamed CSV file. */
export const responsesCsv = endpoint({
  path: '/responses/csv',
  operationId: 'exportCsv',
  tags: ['Responses'],
  summary: 'All responses as a CSV file',
  description: 'All of a survey’s responses, or those that pass the filters, as one file, streamed.',
  query: z.object({ ...survey, ...filters, ...after, ...count, ...csvFormat, ...layout }),
  responses: {
    ...surveyResponses,
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition', 'X-Total-Count'),
      content: { 'text/csv': { schema: { type: 'string' }, example: examples.csv } },
    },
  },

  handle(c, query) {
    const headers = attachment('responses', 'csv');
    if (query.layout === 'wide') return wideFile(c, query, headers);
    return exportFile(c, query, {
      headers,
      head: csvHeader(CSV_COLUMNS, query),
      reader: (db, selection, signal) => csvReader(db, selection, signal, query),
    });
  },
});
