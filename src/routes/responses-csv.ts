import { z } from '@hono/zod-openapi';
import { CSV_COLUMNS } from '../db/responses.ts';
import { csvHeader } from '../encode/csv-cell.ts';
import { csvFormat } from '../export/formats.ts';
import { selectResponses, sendResponses } from '../export/send-responses.ts';
import { attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { after, count, csvOptions, filters, layout, survey } from '../http/params.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { streamedResponses, surveyResponses } from '../openapi/responses.ts';
import { checkWideQuery, wideFile } from '../wide/file.ts';

/** GET /responses/csv: a survey's responses, as one streamed CSV file. */
export const responsesCsv = endpoint({
  path: '/responses/csv',
  operationId: 'exportCsv',
  tags: ['Responses'],
  summary: 'All responses as a CSV file',
  description: 'Streams all of a survey’s responses, or those that pass the filters, as one file.',
  query: z.object({ ...survey, ...filters, ...after, ...count, ...csvOptions, ...layout }),
  responses: {
    ...surveyResponses,
    ...streamedResponses,
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition', 'X-Total-Count'),
      content: { 'text/csv': { schema: { type: 'string' }, example: examples.csv } },
    },
  },

  async handle(c, query) {
    const { db, signal } = c.var;
    const headers = attachment('responses', 'csv');
    if (query.layout === 'wide') {
      checkWideQuery(query);
      const selection = await selectResponses(c, query);
      return sendResponses(c, query, selection, { headers, ...(await wideFile(db, selection, query, signal)) });
    }
    return sendResponses(c, query, await selectResponses(c, query), {
      headers,
      format: csvFormat({ safe: query.safe }),
      async *body(pages) {
        if (!query.after) yield csvHeader(CSV_COLUMNS, query); // a client that resumes a download already has the header
        yield* pages;
      },
    });
  },
});
