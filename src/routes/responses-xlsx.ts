import { xlsx } from '../formats/xlsx.ts';
import { XLSX } from '../http/attachment.ts';
import { checkLayout } from '../http/check-layout.ts';
import { endpoint } from '../http/endpoint.ts';
import {
  codebook,
  columns,
  count,
  filters,
  layout,
  metadata,
  refusedByXlsx,
  survey,
  wide,
} from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent, fileResponse, streamedResponses, surveyResponses } from '../openapi/responses.ts';
import { sendFile } from '../read/send-file.ts';

/** GET /responses/xlsx: a survey's responses, as one streamed Excel workbook. */
export const responsesXlsx = endpoint({
  path: '/responses/xlsx',
  operationId: 'exportXlsx',
  tags: ['Responses'],
  summary: 'All responses as an Excel workbook',
  description:
    'Streams the table of `/responses/csv` as an Excel workbook with the sheet `responses`, and with `codebook=true` a second sheet, `codebook`. Every cell is text, so numbers keep their digits and nothing runs as a formula.',
  query: { ...survey, ...filters, ...count, ...metadata, ...codebook, ...layout, ...wide, ...columns },
  refused: refusedByXlsx,
  responses: {
    ...surveyResponses,
    ...streamedResponses,
    200: fileResponse(fileContent(XLSX.contentType, examples.xlsx, { format: 'binary' }), 'X-Total-Count'),
  },

  async handle(c, query) {
    checkLayout(query);
    return sendFile(c, query, xlsx);
  },
});
