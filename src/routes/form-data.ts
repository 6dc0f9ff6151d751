import { DatabaseError } from '../db/errors.ts';
import { FORM_DATA_COLUMNS, formDataQuery } from '../db/surveys.ts';
import { concat } from '../encode/bytes.ts';
import { csvHeader } from '../encode/csv-cell.ts';
import { encodeCsv } from '../encode/csv.ts';
import { requireResponses, selectResponses } from '../export/select-responses.ts';
import { attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { survey } from '../http/params.ts';
import { sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { surveyResponses } from '../openapi/responses.ts';

/** GET /responses/form-data: a survey's form versions, as a CSV file. */
export const formData = endpoint({
  path: '/responses/form-data',
  operationId: 'exportFormData',
  tags: ['Surveys'],
  summary: 'A survey’s form versions as a CSV file',
  description: 'Returns one row per form version. Join it with the responses on `surveyid`.',
  query: survey,
  responses: {
    ...surveyResponses,
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition'),
      content: { 'text/csv': { schema: { type: 'string' }, example: examples.formData } },
    },
  },

  async handle(c, query) {
    const { account, db, signal, stats } = c.var;
    await selectResponses(c, query);
    await requireResponses(c, query.survey);
    const columns = { columns: FORM_DATA_COLUMNS.length, keyColumns: [], checked: true };
    const { data, rowCount } = await db.bytes(formDataQuery(account.id, query.survey), { signal }, (body, name) => {
      const rows = encodeCsv(body, columns, name);
      // A survey has a form version, or it would not have been found.
      if (rows.rowCount === 0) throw new DatabaseError('transient', 'a result that has lost all its rows');
      return rows;
    });
    stats.rows = rowCount;
    return sendBody(c, concat(csvHeader(FORM_DATA_COLUMNS), data), attachment('form-data', 'csv'));
  },
});
