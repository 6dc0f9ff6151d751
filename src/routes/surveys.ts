import { z } from '@hono/zod-openapi';
import { answerWhole } from '../compression.ts';
import { SURVEY_FIELDS, listSurveys } from '../db/surveys.ts';
import { endpoint } from '../endpoint.ts';
import { jsonObject } from '../json.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { reference } from '../openapi/reference.ts';

/** GET /surveys: every form version of the account, newest first. */
export const surveys = endpoint({
  path: '/surveys',
  operationId: 'listSurveys',
  tags: ['Surveys'],
  summary: 'The account’s surveys',
  description: 'Every version of every form of every survey, newest first.',
  query: z.object({}),
  responses: {
    200: {
      description: 'The form versions; an empty list for an account without surveys.',
      headers: withHeaders(),
      content: {
        'application/json': {
          schema: { type: 'array', items: reference('schemas', 'Survey') },
          example: examples.surveys,
        },
      },
    },
  },

  async handle(c) {
    const rows = await listSurveys(c.var.db, c.var.account.id, c.var.signal);
    const objects = rows.map((row) => jsonObject(SURVEY_FIELDS, row));
    return answerWhole(c, `[${objects.join(',')}]`, { 'Content-Type': 'application/json' });
  },
});
