import { ndjson } from '../formats/ndjson.ts';
import { endpoint } from '../http/endpoint.ts';
import { SELECTION, refusedByFiles } from '../http/parameters.ts';
import { examples } from '../openapi/examples.ts';
import { fileContent } from '../openapi/responses.ts';
import { sendFile } from '../read/send-file.ts';

/**
 * GET /responses/ndjson: a survey's responses, as one streamed file with a JSON object on each
 * line.
 */
export const responsesNdjson = endpoint({
  path: '/responses/ndjson',
  operationId: 'exportNdjson',
  summary: 'All responses as newline-delimited JSON',
  description: 'Streams the objects of `/responses`, one per line.',
  query: [...SELECTION, 'after', 'count', 'omit'],
  refused: refusedByFiles,
  body: fileContent('application/x-ndjson', examples.ndjson),
  headers: ['X-Total-Count'],

  handle: (c, query) => sendFile(c, query, ndjson),
});
