import { z } from '@hono/zod-openapi';
import { answerWhole } from '../http/send.ts';
import { SURVEY_FIELDS, listSurveys, surveysVersionQuery } from '../db/surveys.ts';
import { type ListVersion, findListVersion, listVersionOf, versionsOf } from '../db/row-versions.ts';
import { endpoint } from '../http/endpoint.ts';
import { etagOf } from '../http/etag.ts';
import { jsonObject } from '../encode/json-object.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { reference } from '../openapi/reference.ts';
import { notModifiedResponse } from '../openapi/responses.ts';
import { answerIfUnchanged } from '../http/not-modified.ts';

/** GET /surveys: every form version of the account, newest first. */
export const surveys = endpoint({
  path: '/surveys',
  operationId: 'listSurveys',
  tags: ['Surveys'],
  summary: 'The account’s surveys',
  description: 'Every version of every form of every survey, newest first.',
  query: z.object({}),
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
    const { db, account, signal } = c.var;
    const etagFor = (version: ListVersion) => etagOf(account.id, version);
    const unchanged = await answerIfUnchanged(c, async () =>
      etagFor(await findListVersion(db, surveysVersionQuery(account.id), signal)),
    );
    if (unchanged) return unchanged;

    const rows = await listSurveys(db, account.id, signal);
    c.var.stats.rows = rows.length;
    const objects = rows.map((row) => jsonObject(SURVEY_FIELDS, row));
    return answerWhole(c, `[${objects.join(',')}]`, {
      'Content-Type': 'application/json',
      ETag: await etagFor(await listVersionOf(versionsOf(rows))),
    });
  },
});
