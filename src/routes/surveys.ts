import { SURVEY_COLUMNS, SURVEY_KEY, surveysQuery } from '../db/surveys.ts';
import { objectEncoder } from '../encode/json.ts';
import { endpoint } from '../http/endpoint.ts';
import { JSON_TYPE, sendTagged } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { reference } from '../openapi/headers.ts';
import { jsonContent, streamedResponses } from '../openapi/responses.ts';
import { arrayOf } from '../openapi/schemas.ts';
import { type ListQuery, sendList } from '../read/send-list.ts';

const JSON_COLUMNS: ReadonlySet<string> = new Set(['metadata', 'translation_conf', 'timeouts']);
const encode = objectEncoder({
  members: SURVEY_COLUMNS.map((name) => [name, JSON_COLUMNS.has(name) ? 'json' : 'string']),
  keyColumns: SURVEY_KEY.map((name) => SURVEY_COLUMNS.indexOf(name)),
  before: ',',
});

const FRAME = { start: '[', end: ']' };

/** GET /surveys: every form version of the account, newest first. */
export const surveys = endpoint({
  path: '/surveys',
  operationId: 'listSurveys',
  summary: 'The account’s surveys',
  description: 'Lists all form versions of all surveys, newest first.',
  query: [],
  body: jsonContent(arrayOf(reference('schemas', 'FormVersion')), examples.surveys),
  headers: ['ETag'],
  responses: streamedResponses,

  async handle(c) {
    const { id, limits } = c.var.account;
    const query: ListQuery = (...range) => surveysQuery(id, limits, ...range);

    return sendList(c, query, encode, FRAME, JSON_TYPE, sendTagged);
  },
});
