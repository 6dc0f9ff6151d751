import { endpoint } from '../http/endpoint.ts';
import { after, count, filters, order, pageSize, survey } from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import {
  jsonContent,
  notModifiedResponse,
  response,
  streamedResponses,
  surveyResponses,
} from '../openapi/responses.ts';
import { sendPage } from '../read/send-page.ts';

/** GET /responses: a page of a survey's responses, as JSON. */
export const responses = endpoint({
  path: '/responses',
  operationId: 'listResponses',
  tags: ['Responses'],
  summary: 'A page of responses',
  description:
    'Returns a page of a survey’s responses, ordered by time, participant, question and form version, or backwards.',
  query: { ...survey, ...after, ...pageSize, ...filters, ...count, ...order },
  responses: {
    ...notModifiedResponse,
    ...surveyResponses,
    ...streamedResponses,
    200: response(
      'The page; empty after the last response.',
      jsonContent('Page', examples.page),
      'ETag',
      'Link',
      'X-Total-Count',
    ),
  },

  handle: sendPage,
});
