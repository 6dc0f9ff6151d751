import type { PageData } from '../encode/page.ts';
import { BY_TIME } from '../db/order.ts';
import { jsonFormat } from '../export/formats.ts';
import { sendResponses } from '../export/send-responses.ts';
import { endpoint } from '../http/endpoint.ts';
import { after, count, filters, order, pageSize, survey } from '../http/params.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { reference } from '../openapi/reference.ts';
import { notModifiedResponse, streamedResponses, surveyResponses } from '../openapi/responses.ts';

const utf8 = new TextEncoder();
/** A larger page is streamed, without an ETag. 10,000 responses of the usual size are much smaller. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

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
    200: {
      description: 'The page; empty after the last response.',
      headers: withHeaders('ETag', 'Link', 'X-Total-Count'),
      content: { 'application/json': { schema: reference('schemas', 'Page'), example: examples.page } },
    },
  },

  async handle(c, query) {
    return sendResponses(c, query, query.pageSize, ({ formVersions }) => ({
      headers: { 'Content-Type': 'application/json' },
      format: jsonFormat(formVersions, {
        before: ',',
        maxPageBytes: MAX_PAGE_BYTES,
        order: { ...BY_TIME, direction: query.order },
      }),
      tagged: true,
      body: pageBody,
    }));
  },
});

/** @param pages of objects, each preceded by a comma; the first comma is dropped */
async function* pageBody(pages: AsyncIterable<PageData>): AsyncGenerator<Uint8Array, void, void> {
  yield utf8.encode('{"responses":[');
  let commas = 1;
  for await (const { data } of pages) {
    yield data.subarray(commas);
    commas = 0;
  }
  yield utf8.encode(']}');
}
