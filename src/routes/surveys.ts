import { SURVEY_COLUMNS, surveysQuery } from '../db/surveys.ts';
import { ObjectEncoder } from '../encode/json.ts';
import { endpoint } from '../http/endpoint.ts';
import { jsonBodyOf, sendTagged } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { reference } from '../openapi/reference.ts';
import { notModifiedResponse } from '../openapi/responses.ts';

const JSON_COLUMNS: ReadonlySet<string> = new Set(['metadata', 'translation_conf', 'timeouts']);
const encoder = new ObjectEncoder({
  members: SURVEY_COLUMNS.map((name) => [name, JSON_COLUMNS.has(name) ? 'json' : 'string']),
  columns: SURVEY_COLUMNS.length,
  keyColumns: [],
  before: ',',
});

/** GET /surveys: every form version of the account, newest first. */
export const surveys = endpoint({
  path: '/surveys',
  operationId: 'listSurveys',
  tags: ['Surveys'],
  summary: 'The account’s surveys',
  description: 'Lists all form versions of all surveys, newest first.',
  query: {},
  responses: {
    ...notModifiedResponse,
    200: {
      description: 'The form versions; an empty list for an account without surveys.',
      headers: withHeaders('ETag'),
      content: {
        'application/json': {
          schema: { type: 'array', items: reference('schemas', 'Survey') },
          example: examples.surveys,
        },
      },
    },
  },

  async handle(c) {
    const { account, db, signal, stats } = c.var;
    const page = await db.page(surveysQuery(account.id), { signal }, encoder.encode);
    stats.rows = page.rowCount;
    return sendTagged(c, jsonBodyOf(page, '[', ']'), { 'Content-Type': 'application/json' });
  },
});
