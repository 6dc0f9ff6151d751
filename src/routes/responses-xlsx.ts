import { xlsx } from '../formats/xlsx.ts';
import { XLSX } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { SELECTION, WIDE, checkLayout, refusedByFiles } from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent } from '../openapi/responses.ts';
import { sendFile } from '../read/send-file.ts';

/** GET /responses/xlsx: a survey's responses, as one streamed Excel workbook. */
export const responsesXlsx = endpoint({
  path: '/responses/xlsx',
  operationId: 'exportXlsx',
  summary: 'All responses as an Excel workbook',
  description:
    'Streams the table of `/responses/csv` as an Excel workbook. Every cell is text, so numbers keep their digits and nothing runs as a formula.',
  query: [
    ...SELECTION,
    'count',
    'metadata',
    'arm',
    'omit',
    'codebook',
    'numbers',
    'layout',
    ...WIDE,
  ],
  refused: {
    ...refusedByFiles,
    bom: 'bom cannot be used with a workbook: leave it out.',
    safe: 'safe cannot be used with a workbook, in which nothing runs as a formula: leave it out.',
    after:
      'after cannot be used with a workbook, which cannot be resumed: use since, or /responses/csv.',
  },
  body: fileContent(XLSX.contentType, examples.xlsx, { format: 'binary' }),
  headers: ['X-Total-Count'],

  async handle(c, query) {
    checkLayout(query, c.req.queries());
    return sendFile(c, query, xlsx);
  },
});
