import { answerColumns, answersQuery } from '../db/answers.ts';
import { QUESTIONS_OPTIONS } from '../db/codebook.ts';
import { csvEncoder } from '../encode/csv.ts';
import { objectEncoder } from '../encode/json.ts';
import { csvHeader } from '../encode/records.ts';
import { wideQuestions } from '../formats/wide/table.ts';
import { CSV, attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { badParameter, ifTooMany, invalidParameter } from '../http/errors.ts';
import { COLUMN, GROUPING, LEFT_OUT, SELECTION } from '../http/parameters.ts';
import { JSON_TYPE, bodyOf, sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent, jsonContent } from '../openapi/responses.ts';
import { requireResponses, selectResponses } from '../read/select-responses.ts';

/** GET /responses/answers: what participants answered, as JSON or CSV. */
export const answers = endpoint({
  path: '/responses/answers',
  operationId: 'countAnswers',
  summary: 'What participants answered',
  description:
    'Counts the cells of a wide file’s question columns by value: the most frequent values of each question, and how many records have others.',
  query: [
    ...SELECTION,
    'value',
    ...LEFT_OUT,
    'columns',
    'top',
    'column',
    'by',
    'numbers',
    'format',
    'safe',
  ],
  body: {
    ...jsonContent('Answers', examples.answers),
    ...fileContent('text/csv', examples.answersCsv),
  },

  async handle(c, query) {
    const { db, stats } = c.var;
    const { survey, missing, column = [], by } = query;
    const isCsv = query.format === 'csv';
    if (isCsv && query.numbers)
      throw invalidParameter('numbers can only be used with format=json.');

    const selection = await selectResponses(c, query);
    const columnsOf = async (some: typeof selection) =>
      (await wideQuestions(db, some, query.columns)).map((question) => question.column);

    const asked = by === undefined || /^(metadata|arm)\./.test(by) ? column : [...column, by];
    const columns = asked.length > 0 ? await columnsOf(selection) : [];
    const lacks = (name: string) => !columns.includes(name);
    if (asked.some(lacks)) {
      const all = await columnsOf(await selectResponses(c, { survey, missing }));
      columns.push(...all);
      if (all.length > 0 && column.some(lacks)) throw badParameter('column', COLUMN);
      if (all.length > 0 && asked.some(lacks)) throw badParameter('by', GROUPING);
    }

    const names = answerColumns(query);
    const encode = isCsv
      ? csvEncoder({ columns: names.length, keyColumns: [0] })
      : objectEncoder({ members: names.map((name) => [name, 'json']), keyColumns: [0] });
    const reading = db.page(answersQuery(selection, query), QUESTIONS_OPTIONS, encode);
    const page = await reading.catch(
      ifTooMany('answers', 'column, shortcode or question_ref, lower top, or leave out by'),
    );
    stats.rows = page.rowCount;

    const [records = '0'] = page.lastKey;
    if (records === '0') await requireResponses(c, query);
    if (page.rowCount === 0) await columnsOf(selection); // fails if there are too many

    const body = bodyOf(page, { start: isCsv ? csvHeader(names) : '' });
    return sendBody(c, body, isCsv ? attachment('answers', CSV) : JSON_TYPE);
  },
});
