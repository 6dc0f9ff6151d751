import { ndjson } from '../formats/ndjson.ts';
import { endpoint } from '../http/endpoint.ts';
import { after, count, filters, refusedByFiles, survey } from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { streamedResponses, surveyResponses } from '../openapi/responses.ts';
import { sendFile } from '../read/send-file.ts';

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

  handle: (c, query) => sendFile(c, query, ndjson),
});
