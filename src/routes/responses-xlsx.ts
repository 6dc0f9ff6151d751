import { sendResponses } from '../export/send-responses.ts';
import { XLSX, attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { columns, count, filters, layout, metadata, refusedByXlsx, survey, wide } from '../http/params.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { streamedResponses, surveyResponses } from '../openapi/responses.ts';
import { checkLayout, wideTable } from '../wide/file.ts';
import { checkSheetLimits } from '../xlsx/check-limits.ts';
import { xlsxBody } from '../xlsx/file.ts';
import { longTable } from '../xlsx/long-table.ts';

/** GET /responses/xlsx: a survey's responses, as one streamed Excel workbook. */
export const responsesXlsx = endpoint({
  path: '/responses/xlsx',
  operationId: 'exportXlsx',
  tags: ['Responses'],
  summary: 'All responses as an Excel workbook',
  description:
    'Streams the table of `/responses/csv` as an Excel workbook with one sheet, `responses`. Every cell is text, so numbers keep their digits and nothing runs as a formula.',
  query: { ...survey, ...filters, ...count, ...metadata, ...layout, ...wide, ...columns },
  refused: refusedByXlsx,
  responses: {
    ...surveyResponses,
    ...streamedResponses,
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition', 'X-Total-Count'),
      content: { [XLSX]: { schema: { type: 'string', format: 'binary' }, example: examples.xlsx } },
    },
  },

  async handle(c, query) {
    checkLayout(query);
    const headers = attachment('responses', 'xlsx');
    const isWide = query.layout === 'wide';
    return sendResponses(c, query, undefined, async (selection, signal) => {
      const { db, stats } = c.var;
      const table = isWide ? await wideTable({ ...c.var, signal }, selection, query) : longTable(query.metadata);
      const { names, format } = table;
      const leftOut = isWide ? query : undefined;
      const sheet = { names, columns: format.columns, leftOut };
      const total = await checkSheetLimits(db, stats.keyId as string, selection, sheet, signal);
      return { headers, total, ...table, body: xlsxBody(table) };
    });
  },
});
