import { CODEBOOK_COLUMNS, QUESTIONS_OPTIONS, codebookQuery } from '../db/codebook.ts';
import { csvHeader } from '../encode/records.ts';
import { csvEncoder } from '../encode/csv.ts';
import { objectEncoder } from '../encode/json.ts';
import { CSV, attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { ifTooMany } from '../http/errors.ts';
import { SELECTION } from '../http/parameters.ts';
import { JSON_TYPE, bodyOf, sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent, jsonContent } from '../openapi/responses.ts';
import { requireResponses, selectResponses } from '../read/select-responses.ts';

/** The members that are not strings. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['responses', 'participants', 'choices']);
const csv = csvEncoder({ columns: CODEBOOK_COLUMNS.length });
const json = objectEncoder({
  members: CODEBOOK_COLUMNS.map((name) => [name, JSON_COLUMNS.has(name) ? 'json' : 'string']),
  before: ',',
});
const JSON_FRAME = { start: '{"questions":[', end: ']}' };

/** GET /responses/questions: the questions that have responses, as JSON or CSV. */
export const questions = endpoint({
  path: '/responses/questions',
  operationId: 'listQuestions',
  summary: 'The codebook',
  description:
    'Returns the questions that have responses, with their texts and numbers of responses, in the order of the columns of a wide file.',
  query: [...SELECTION, 'columns', 'format', 'safe'],
  body: {
    ...jsonContent('Questions', examples.codebook),
    ...fileContent('text/csv', examples.codebookCsv),
  },

  async handle(c, query) {
    const { db, stats } = c.var;
    const isCsv = query.format === 'csv';
    const selection = await selectResponses(c, query);

    const reading = db.page(
      codebookQuery(selection, query.columns, isCsv && query.safe),
      QUESTIONS_OPTIONS,
      isCsv ? csv : json,
    );
    const page = await reading.catch(ifTooMany('questions', 'shortcode or question_ref'));
    if (page.rowCount === 0) await requireResponses(c, query);
    stats.rows = page.rowCount;

    const frame = isCsv ? { start: csvHeader(CODEBOOK_COLUMNS) } : JSON_FRAME;
    return sendBody(c, bodyOf(page, frame), isCsv ? attachment('codebook', CSV) : JSON_TYPE);
  },
});
