import { CODEBOOK_COLUMNS, codebookQuery } from '../db/codebook.ts';
import { concat } from '../encode/bytes.ts';
import { csvHeader } from '../encode/csv-cell.ts';
import { encodeCsv } from '../encode/csv.ts';
import { ObjectEncoder } from '../encode/json.ts';
import { leaseJsonPage, runScan } from '../export/limits.ts';
import { requireResponses, selectResponses } from '../export/select-responses.ts';
import { attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { tooManyRows } from '../http/errors.ts';
import { columns, filters, format, survey } from '../http/params.ts';
import { sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { headers, withHeaders } from '../openapi/headers.ts';
import { reference } from '../openapi/reference.ts';
import { surveyResponses } from '../openapi/responses.ts';

/** Of the database's result, which is held in memory with the body made from it: some 8,000 questions of 300 characters. */
const MAX_BYTES = 4 * 1024 * 1024;

const PAGE_COLUMNS = { columns: CODEBOOK_COLUMNS.length, keyColumns: [], checked: true };
const NUMBERS: ReadonlySet<string> = new Set(['responses', 'participants']);
const encoder = new ObjectEncoder({
  members: CODEBOOK_COLUMNS.map((name) => [name, NUMBERS.has(name) ? 'json' : 'string']),
  before: ',',
});
const tooLarge = () => tooManyRows('questions', 'shortcode or question_ref');

/** GET /responses/questions: the questions that have responses, as JSON or CSV. */
export const questions = endpoint({
  path: '/responses/questions',
  operationId: 'listQuestions',
  tags: ['Responses'],
  summary: 'The codebook',
  description:
    'Returns the questions that have responses, with their texts and numbers of responses, in the order of the columns of a wide file.',
  query: { ...survey, ...filters, ...columns, ...format },
  responses: {
    ...surveyResponses,
    200: {
      description: 'The questions; a CSV file with `format=csv`.',
      headers: { ...withHeaders(), 'Content-Disposition': { ...headers['Content-Disposition'], required: false } },
      content: {
        'application/json': { schema: reference('schemas', 'Codebook'), example: examples.codebook },
        'text/csv': { schema: { type: 'string' }, example: examples.codebookCsv },
      },
    },
  },

  async handle(c, query) {
    const { db, signal, stats } = c.var;
    const keyId = stats.keyId as string;
    const isCsv = query.format === 'csv';
    const codebook = codebookQuery(await selectResponses(c, query), query.columns);
    const read = () =>
      db.bytes(codebook, { signal, maxBytes: MAX_BYTES, retry: 'scan' }, (body, name) =>
        isCsv ? encodeCsv(body, PAGE_COLUMNS, name) : encoder.encode(body, PAGE_COLUMNS, name),
      );
    const scan = async () => {
      const page = await read();
      return page.rowCount > 0 ? page : read(); // a result that lost all its rows would look like an empty selection
    };
    const { data, rowCount } = await runScan(keyId, signal, scan, tooLarge);
    if (rowCount === 0) await requireResponses(c, query.survey);
    stats.rows = rowCount;
    const lease = await leaseJsonPage(keyId, rowCount, signal); // a question takes less memory than a response
    const response = isCsv
      ? sendBody(c, concat(csvHeader(CODEBOOK_COLUMNS), data), attachment('codebook', 'csv'))
      : sendBody(c, concat('{"questions":[', data.subarray(1), ']}'), { 'Content-Type': 'application/json' });
    void Promise.resolve(stats.transfer).then(() => lease.end());
    return response;
  },
});
