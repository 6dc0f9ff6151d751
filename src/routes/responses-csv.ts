import { CSV_COLUMNS, metadataValue } from '../db/responses.ts';
import { BOM, csvCell, csvHeader } from '../encode/csv-cell.ts';
import { CsvRecords } from '../encode/records.ts';
import { csvFormat } from '../export/formats.ts';
import { dataOf, sendResponses } from '../export/send-responses.ts';
import { attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
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
} from '../http/params.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { streamedResponses, surveyResponses } from '../openapi/responses.ts';
import { checkLayout, wideTable } from '../wide/file.ts';

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
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition', 'X-Total-Count'),
      content: { 'text/csv': { schema: { type: 'string' }, example: examples.csv } },
    },
  },

  async handle(c, query) {
    checkLayout(query);
    const headers = attachment('responses', 'csv');
    if (query.layout === 'wide') {
      return sendResponses(c, query, undefined, async (selection, signal) => {
        const { records, ...table } = await wideTable({ ...c.var, signal }, selection, query);
        return {
          headers,
          ...table,
          async *body(...from) {
            if (query.bom) yield BOM;
            yield* records(new CsvRecords(), ...from);
          },
        };
      });
    }
    const keys = query.metadata ?? [];
    return sendResponses(c, query, undefined, () => ({
      headers,
      format: csvFormat({ columns: [...CSV_COLUMNS, ...keys.map(metadataValue)], safe: query.safe }),
      async *body(pages) {
        // A client that resumes a download already has the header.
        if (!query.after) yield csvHeader([...CSV_COLUMNS, ...keys.map((key) => csvCell(`metadata.${key}`))], query);
        yield* dataOf(pages);
      },
    }));
  },
});
