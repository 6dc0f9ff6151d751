import { endpoint } from '../http/endpoint.ts';
import { examples } from '../openapi/examples.ts';
import { jsonContent, streamedResponses } from '../openapi/responses.ts';
import { sendPage } from '../read/send-page.ts';
import { FILTER_NAMES } from '../responses/filters.ts';

/** GET /responses: a page of a survey's responses, as JSON. */
export const responses = endpoint({
  path: '/responses',
  operationId: 'listResponses',
  summary: 'A page of responses',
  description:
    'Returns a page of a survey’s responses, ordered by time, participant, question and form version, or backwards.',
  query: ['survey', 'missing', 'after', 'pageSize', ...FILTER_NAMES, 'count', 'order'],
  body: jsonContent('Page', examples.page),
  headers: ['ETag', 'Link', 'X-Total-Count'],
  responses: streamedResponses,

  handle: sendPage,
});
