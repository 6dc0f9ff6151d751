import { answerColumns, answersQuery } from '../db/answers.ts';
import { QUESTIONS_OPTIONS } from '../db/codebook.ts';
import { csvEncoder } from '../encode/csv.ts';
import { objectEncoder } from '../encode/json.ts';
import { csvHeader } from '../encode/records.ts';
import type { EncodeRows } from '../encode/rows.ts';
import { wideQuestions } from '../formats/wide/table.ts';
import { CSV, attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { badParameter, ifTooMany, invalidParameter } from '../http/errors.ts';
import { COLUMN, GROUPING, LEFT_OUT, SELECTION } from '../http/parameters.ts';
import { bodyOf, sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { tableResponse } from '../openapi/responses.ts';
import { requireResponses, selectResponses } from '../read/select-responses.ts';

function encoderOf(options: Parameters<typeof answerColumns>[0]): EncodeRows {
  const names = answerColumns(options);
  return options.format === 'csv'
    ? csvEncoder({ columns: names.length, keyColumns: [0] })
    : objectEncoder({ keyColumns: [0], members: names.map((name) => [name, 'json']) });
}

/** GET /responses/answers: what participants answered, as JSON or CSV. */
export const answers = endpoint({
  path: '/responses/answers',
  operationId: 'countAnswers',
  tags: ['Responses'],
  summary: 'What participants answered',
  description:
    'Counts the cells of a wide file’s question columns by value: the most frequent values of each question, and how many records have others. With `by`, in groups of records too; with `numbers`, the distribution of numbers. As CSV, `by` adds the column `group` before `records`.',
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
  responses: {
    200: tableResponse('The numbers', 'Answers', examples.answers, examples.answersCsv),
  },

  async handle(c, query) {
    const { db, stats } = c.var;
    const { survey, missing, column = [], by } = query;
    const isCsv = query.format === 'csv';
    if (isCsv && query.numbers)
      throw invalidParameter('numbers can only be used with format=json.');

    const selection = await selectResponses(c, query);
    const columnsOf = async (some: typeof selection) =>
      (await wideQuestions(db, some, query.columns)).map(({ column }) => column);

    const isOfQuestion = by && by.key === undefined && !by.arm;
    const asked = isOfQuestion ? [...column, by.name] : column;
    const columns = asked.length > 0 ? await columnsOf(selection) : [];
    const lacks = (name: string) => !columns.includes(name);
    if (asked.some(lacks)) {
      const all = await columnsOf(await selectResponses(c, { survey, missing }));
      columns.push(...all);
      if (all.length > 0 && column.some(lacks)) throw badParameter('column', COLUMN);
      if (all.length > 0 && asked.some(lacks)) throw badParameter('by', GROUPING);
    }

    const reading = db.page(answersQuery(selection, query), QUESTIONS_OPTIONS, encoderOf(query));
    const page = await reading.catch(
      ifTooMany('answers', 'column, shortcode or question_ref, lower top, or leave out by'),
    );
    stats.rows = page.rowCount;

    const [records = '0'] = page.lastKey;
    if (records === '0') await requireResponses(c, query);
    if (page.rowCount === 0) await columnsOf(selection); // fails if there are too many

    const start = csvHeader(answerColumns(query));
    return isCsv
      ? sendBody(c, bodyOf(page, { start }), attachment('answers', CSV))
      : sendBody(c, bodyOf(page, { start: '' }));
  },
});
