import { FORM_DATA_COLUMNS, FORM_DATA_KEY, formDataQuery } from '../db/surveys.ts';
import { csvHeader } from '../encode/records.ts';
import { csvEncoder } from '../encode/csv.ts';
import { type ListQuery, sendList } from '../read/send-list.ts';
import { requireResponses, surveyOf } from '../read/select-responses.ts';
import { CSV, attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { noResponses } from '../http/errors.ts';
import { sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent } from '../openapi/responses.ts';

const encode = csvEncoder({
  columns: FORM_DATA_COLUMNS.length,
  keyColumns: FORM_DATA_KEY.map((name) => FORM_DATA_COLUMNS.indexOf(name)),
});

/** GET /responses/form-data: a survey's form versions, as a CSV file. */
export const formData = endpoint({
  path: '/responses/form-data',
  operationId: 'exportFormData',
  summary: 'A survey’s form versions as a CSV file',
  description: 'Returns one row per form version. Join it with the responses on `surveyid`.',
  query: ['survey', 'missing'],
  body: fileContent('text/csv', examples.formData),

  async handle(c, query) {
    await requireResponses(c, query);

    const rows: ListQuery = (...range) => formDataQuery(surveyOf(c, query), ...range);
    const frame = { start: csvHeader(FORM_DATA_COLUMNS) };
    return sendList(c, rows, encode, frame, attachment('form-data', CSV), (...response) => {
      // with missing=404, or if the form versions were deleted meanwhile
      if (c.var.stats.rows === 0) throw noResponses(query, c.var.account.email);
      return sendBody(...response);
    });
  },
});
