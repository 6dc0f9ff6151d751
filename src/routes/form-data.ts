import { FORM_DATA_COLUMNS, formDataQuery } from '../db/surveys.ts';
import { csvHeader } from '../encode/csv-cell.ts';
import { csvEncoder } from '../encode/csv.ts';
import { requireResponses, selectResponses } from '../read/select-responses.ts';
import { CSV, attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { noResponses } from '../http/errors.ts';
import { survey } from '../http/parameters.ts';
import { bodyOf, sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { surveyResponses } from '../openapi/responses.ts';

const encode = csvEncoder({ columns: FORM_DATA_COLUMNS.length, keyColumns: [] });

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
    const page = await db.page(formDataQuery(account.id, query.survey), { signal }, encode);
    if (page.rowCount === 0) throw noResponses(query.survey, account.email); // deleted meanwhile
    stats.rows = page.rowCount;
    return sendBody(c, bodyOf(page, csvHeader(FORM_DATA_COLUMNS)), attachment('form-data', CSV));
  },
});
