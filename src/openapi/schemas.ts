import type { SchemaObject } from 'openapi3-ts/oas31';
import { JSON_COLUMNS } from '../db/responses.ts';
import { SURVEY_COLUMNS } from '../db/surveys.ts';

/*
 * What the bodies are. Plain JSON Schema: the service puts its JSON together as text, so there is nothing that would parse
 * it with zod.
 */

type Fields<Name extends string> = Record<Name, SchemaObject>;

const TIMESTAMP = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z$`,
} as const;
const INTEGER = { type: 'string', pattern: String.raw`^-?\d+$` } as const;
const UUID = { type: 'string', format: 'uuid' } as const;

const surveyFields: Fields<(typeof SURVEY_COLUMNS)[number]> = {
  id: { ...UUID, description: 'The form version: the `surveyid` of its responses.' },
  survey_name: {
    type: 'string',
    description: 'What the parameter `survey` takes; the versions of a survey’s forms share it.',
  },
  shortcode: { type: 'string', description: 'The form, in all its versions.' },
  title: { type: 'string' },
  formid: { type: 'string' },
  created: { ...TIMESTAMP, description: 'When this version was made, in UTC.' },
  metadata: { type: 'object' },
  translation_conf: { type: 'object' },
  off_time: { ...TIMESTAMP, type: ['string', 'null'], description: 'When the form closes.' },
  timeouts: { description: 'Any JSON, or null.' },
};

const responseFields: Fields<(typeof JSON_COLUMNS)[number] | 'shortcode' | 'token'> = {
  parent_surveyid: {
    ...UUID,
    type: ['string', 'null'],
    description: 'The form version that the participant began with.',
  },
  parent_shortcode: { type: 'string', description: 'Its shortcode.' },
  shortcode: { type: 'string', description: 'The shortcode of the form that was answered.' },
  surveyid: { ...UUID, description: 'The form version that was answered.' },
  flowid: { ...INTEGER, description: 'An integer, as text.' },
  userid: { type: 'string', description: 'The participant.' },
  question_ref: { type: 'string', description: 'The question.' },
  question_idx: { ...INTEGER, description: 'Its place in the form: an integer, as text.' },
  question_text: { type: 'string', description: 'Its words.' },
  response: { type: 'string', description: 'The answer.' },
  timestamp: {
    ...TIMESTAMP,
    description: 'When it was given, in UTC; six fraction digits when the microseconds are not zero.',
  },
  metadata: {
    type: ['object', 'null'],
    description: 'Its numbers have every digit that was stored; a parser that reads them into doubles may drop some.',
  },
  pageid: { type: ['string', 'null'] },
  translated_response: { type: ['string', 'null'] },
  token: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]+$',
    description:
      'The place of this response in the order: what the parameter `after` takes. Opaque; outlives deployments.',
  },
};

export const schemas = {
  Survey: {
    type: 'object',
    description: 'A version of a form of a survey. The fields come in this order.',
    required: Object.keys(surveyFields),
    properties: surveyFields,
  },
  Response: {
    type: 'object',
    description: 'An answer of a participant. The fields come in this order.',
    required: Object.keys(responseFields),
    properties: responseFields,
  },
  Page: {
    type: 'object',
    required: ['responses'],
    properties: { responses: { type: 'array', items: { $ref: '#/components/schemas/Response' } } },
  },
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message'],
        properties: { message: { type: 'string', minLength: 1, description: 'What is wrong, for people.' } },
      },
    },
  },
} satisfies Record<string, SchemaObject>;
