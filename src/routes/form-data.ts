import { z } from '@hono/zod-openapi';
import { answerWhole } from '../http/send.ts';
import { attachment } from '../http/attachment.ts';
import { concat } from '../encode/bytes.ts';
import { csvHeader } from '../encode/csv-header.ts';
import { transcodeToCsv } from '../encode/csv.ts';
import { FORM_VERSION_COLUMNS, formVersionsQuery } from '../db/form-versions.ts';
import { hasResponses } from '../db/responses.ts';
import { findForms } from '../db/surveys.ts';
import { endpoint } from '../http/endpoint.ts';
import { noResponses } from '../http/errors.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { surveyResponses } from '../openapi/responses.ts';
import { survey } from '../http/params.ts';

/** GET /responses/form-data: a survey's form versions, as a CSV file. */
export const formData = endpoint({
  path: '/responses/form-data',
  operationId: 'exportFormData',
  tags: ['Surveys'],
  summary: 'A survey’s form versions as a CSV file',
  description: 'One row for each version of each form; joins with the responses on `surveyid`.',
  query: z.object(survey),
  responses: {
    ...surveyResponses,
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition'),
      content: { 'text/csv': { schema: { type: 'string' }, example: examples.formData } },
    },
  },

  async handle(c, query) {
    const { db, account, signal } = c.var;
    const forms = await findForms(db, account.id, query.survey, signal);
    if (!(await hasResponses(db, forms, signal))) throw noResponses(query.survey, account.email);
    const versions = formVersionsQuery(account.id, query.survey);
    const page = await db.bytes(versions, { signal }, (body) => transcodeToCsv(body, [], versions.columns));
    c.var.stats.rows = page.rowCount;

    const file = concat(csvHeader(FORM_VERSION_COLUMNS), page.csv);
    return answerWhole(c, file, attachment('form-data', 'csv'));
  },
});
