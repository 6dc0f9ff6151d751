import { jsonFormat } from '../export/formats.ts';
import { dataOf, sendResponses } from '../export/send-responses.ts';
import { attachment } from '../http/attachment.ts';
import { endpoint } from '../http/endpoint.ts';
import { after, count, filters, refusedByFiles, survey } from '../http/params.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { streamedResponses, surveyResponses } from '../openapi/responses.ts';

/** GET /responses/ndjson: a survey's responses, as one streamed file with a JSON object on each line. */
export const responsesNdjson = endpoint({
  path: '/responses/ndjson',
  operationId: 'exportNdjson',
  tags: ['Responses'],
  summary: 'All responses as newline-delimited JSON',
  description:
    'Streams all of a survey’s responses, or those that pass the filters: the objects of `/responses`, one per line.',
  query: { ...survey, ...filters, ...after, ...count },
  refused: refusedByFiles,
  responses: {
    ...surveyResponses,
    ...streamedResponses,
    200: {
      description: 'The file.',
      headers: withHeaders('Content-Disposition', 'X-Total-Count'),
      content: { 'application/x-ndjson': { schema: { type: 'string' }, example: examples.ndjson } },
    },
  },

  async handle(c, query) {
    return sendResponses(c, query, undefined, ({ formVersions }) => ({
      headers: attachment('responses', 'ndjson'),
      format: jsonFormat(formVersions, { after: '\n' }),
      body: dataOf,
    }));
  },
});
