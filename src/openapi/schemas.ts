import type { ReferenceObject, SchemaObject } from 'openapi3-ts/oas31';
import { CODEBOOK_COLUMNS } from '../db/codebook.ts';
import type { Digests } from '../db/digests.ts';
import type { Summary } from '../db/summary.ts';
import { SURVEY_COLUMNS } from '../db/surveys.ts';
import { type ColumnName, JSON_MEMBERS } from '../responses/columns.ts';
import { INTERVALS } from '../responses/timestamp.ts';
import { reference } from './headers.ts';

/*
 * The schemas of response bodies, as JSON Schema.
 */

type Fields<Name extends string> = Record<Name, SchemaObject>;

/** An object with all of these members, except the optional ones. */
export const object = (
  properties: Fields<string>,
  description?: string,
  optional: readonly string[] = [],
): SchemaObject => ({
  type: 'object',
  ...(description !== undefined && { description }),
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

export const arrayOf = (
  items: SchemaObject | ReferenceObject,
  description?: string,
): SchemaObject => ({
  type: 'array',
  ...(description !== undefined && { description }),
  items,
});

const TIMESTAMP = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z$`,
} as const;
const timeOrNull = (description: string): SchemaObject => ({
  ...TIMESTAMP,
  type: ['string', 'null'],
  description,
});
const INTEGER = { type: 'string', pattern: String.raw`^-?\d+$` } as const;
const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
const UUID = { type: 'string', format: 'uuid' } as const;

const surveyFields: Fields<(typeof SURVEY_COLUMNS)[number]> = {
  id: { ...UUID, description: 'Id of the form version: the `surveyid` of its responses.' },
  survey_name: {
    type: 'string',
    description:
      'Name of the survey, for the parameter `survey`. All form versions of a survey have the same name.',
  },
  shortcode: {
    type: 'string',
    description: 'Identifies the form. All its versions have the same shortcode.',
  },
  title: { type: 'string' },
  formid: { type: 'string' },
  created: { ...TIMESTAMP, description: 'When this version was created, in UTC.' },
  metadata: { type: 'object' },
  translation_conf: { type: 'object' },
  off_time: timeOrNull('When the form closes.'),
  timeouts: { description: 'Any JSON, or null.' },
};

/** The schemas of JSON members, by the types of columns. */
const TYPES = {
  uuid: UUID,
  bigint: INTEGER,
  integer: INTEGER,
  text: { type: 'string' },
  timestamptz: TIMESTAMP,
  jsonb: { type: 'object' },
} as const;

const responseFields = Object.fromEntries(
  JSON_MEMBERS.map(({ name, type, isNullable, pattern, description }) => {
    const schema = TYPES[type];
    const types = isNullable ? { type: [schema.type, 'null' as const] } : {};
    return [
      name,
      { ...schema, ...types, ...(pattern && { pattern }), ...(description && { description }) },
    ];
  }),
) as Fields<ColumnName>;

const questionFields: Fields<(typeof CODEBOOK_COLUMNS)[number]> = {
  column: { type: 'string', description: 'Name of the question’s column in a wide file.' },
  shortcode: responseFields.shortcode,
  question_ref: responseFields.question_ref,
  question_idx: {
    ...INTEGER,
    description: 'The smallest index of the question in the form: an integer, as a string.',
  },
  question_text: { type: 'string', description: 'Text of the question in the latest response.' },
  responses: count('Number of responses.'),
  participants: count('Number of distinct participants.'),
  first: { ...TIMESTAMP, description: 'Time of the first response.' },
  last: { ...TIMESTAMP, description: 'Time of the latest response.' },
  choices: {
    type: ['array', 'null'],
    description:
      'The lettered choices that `question_text` lists, in order; null if it lists none.',
    items: object({
      value: { type: 'string', pattern: '^[A-Z]$', description: 'The letter.' },
      label: { type: 'string', minLength: 1, description: 'The text of the choice.' },
    }),
  },
};

const dayFields: Fields<'day' | 'responses' | 'participants'> = {
  day: { type: 'string', format: 'date', description: 'A day in the time zone.' },
  responses: questionFields.responses,
  participants: questionFields.participants,
};

const summaryFields: Fields<keyof Summary> = {
  responses: questionFields.responses,
  participants: questionFields.participants,
  first: timeOrNull('Time of the first response; null if there is none.'),
  last: timeOrNull('Time of the latest response; null if there is none.'),
  days: arrayOf(object(dayFields), 'Days with responses, ascending.'),
  left_out: count(
    'Number of participants that `repeats`, `require_metadata` and `require_question` leave out; the other numbers do not count them.',
  ),
  forms: arrayOf(
    object({
      shortcode: responseFields.shortcode,
      responses: questionFields.responses,
      participants: questionFields.participants,
    }),
    'Forms with responses, in the order of their columns in a wide file.',
  ),
  left_out_by: arrayOf(
    object({
      rule: {
        type: 'string',
        enum: ['repeats', 'require_metadata', 'require_question'],
        description: 'The parameter.',
      },
      name: { type: ['string', 'null'], description: 'Its value; null for `repeats`.' },
      participants: count('Number of participants that it leaves out.'),
      userids: arrayOf({ type: 'string' }, 'The first 100 of them, in order.'),
    }),
    'How many participants each of these parameters leaves out. Several can leave out the same.',
  ),
  stops: arrayOf(
    object({
      shortcode: responseFields.shortcode,
      question_ref: responseFields.question_ref,
      participants: count('Number of participants whose last response is to this question.'),
    }),
    'With `stops`, the questions with responses, in the order of their columns in a wide file.',
  ),
};

const DECIMAL = { type: 'string', pattern: String.raw`^-?\d+(\.\d*[1-9])?$` } as const;
const inGroups = arrayOf(
  count('Number of records.'),
  'With `by`, how many of these records are in each of the groups, in the same order.',
);

const numbersFields = {
  records: count('Number of records with a number.'),
  min: DECIMAL,
  q1: { ...DECIMAL, description: 'The first quartile, interpolated linearly.' },
  median: DECIMAL,
  q3: { ...DECIMAL, description: 'The third quartile, interpolated linearly.' },
  max: DECIMAL,
  sum: DECIMAL,
  step: {
    ...DECIMAL,
    type: ['string', 'null'],
    description: 'The width of the bins; null if all numbers are equal.',
  },
  bins: arrayOf(
    object({
      from: { ...DECIMAL, description: 'The smallest number that belongs to it.' },
      records: count('Number of records with a number in it.'),
    }),
    'At most 20 bins of the same width, from that of `min` to that of `max`.',
  ),
} satisfies Fields<string>;

const answersFields = {
  records: count('Number of records of the wide file.'),
  left_out: count('Number of participants left out of it.'),
  by: { type: 'string', description: 'With `by`, the column that the groups are of.' },
  groups: arrayOf(
    object({
      value: {
        type: 'string',
        description: 'The value of the column. After 1,000 characters it ends with `…`.',
      },
      records: count('Number of records in the group.'),
    }),
    'With `by`, the 20 most frequent values of the column.',
  ),
  ungrouped: count('With `by`, the number of records without a value in the column.'),
  other_groups: count('With `by`, the number of records with any other value.'),
  questions: arrayOf(
    object(
      {
        column: questionFields.column,
        shortcode: {
          type: 'string',
          description: 'Of the first form, if the column has answers of several.',
        },
        question_ref: responseFields.question_ref,
        records: count('Number of records with an answer.'),
        distinct: count('Number of different answers.'),
        values: arrayOf(
          object(
            {
              value: {
                type: 'string',
                description: 'An answer. After 1,000 characters it ends with `…`.',
              },
              records: count('Number of records with this answer.'),
              groups: inGroups,
            },
            undefined,
            ['groups'],
          ),
          'The most frequent answers.',
        ),
        other: count('Number of records with any other answer.'),
        numbers: {
          ...object(numbersFields),
          type: ['object', 'null'],
          description:
            'With `numbers`, the distribution of the answers that are numbers; null if none is.',
        },
        groups: inGroups,
      },
      undefined,
      ['numbers', 'groups'],
    ),
    'The question columns of the wide file, in their order.',
  ),
} satisfies Fields<string>;

const DIGEST = { type: 'string', pattern: '^[0-9a-f]{32}$' } as const;

const intervalFields: Fields<keyof Digests['digests'][number]> = {
  start: {
    ...TIMESTAMP,
    description: 'When the calendar interval begins, in UTC, even if `since` is later.',
  },
  responses: questionFields.responses,
  digest: { ...DIGEST, description: 'The digest of these responses.' },
};

const digestsFields: Fields<keyof Digests> = {
  version: { type: 'integer', const: 1, description: 'The version of the computation.' },
  interval: {
    type: 'string',
    enum: [...INTERVALS],
    description: 'What each digest covers, in UTC.',
  },
  forms: {
    ...DIGEST,
    description: 'The digest of all records of `/responses/form-data`, whatever the filters.',
  },
  digests: arrayOf(object(intervalFields), 'Intervals with responses, ascending.'),
};

const namesOf = (description: string) => arrayOf({ type: 'string' }, description);

export const schemas = {
  FormVersion: object(surveyFields, 'A form version of a survey. The fields are in this order.'),
  Response: object(
    responseFields,
    'A participant’s answer to a question. The fields are in this order.',
  ),
  Page: object({ responses: arrayOf(reference('schemas', 'Response')) }),
  Question: object(
    questionFields,
    'A question of a form, in all its versions. The fields are in this order.',
  ),
  Questions: object({ questions: arrayOf(reference('schemas', 'Question')) }),
  Summary: object(summaryFields, 'The fields are in this order.', ['stops']),
  Answers: object(answersFields, 'The fields are in this order.', [
    'by',
    'groups',
    'ungrouped',
    'other_groups',
  ]),
  Digests: object(digestsFields, 'The fields are in this order.'),
  Key: object({
    email: { type: 'string', description: 'The account that the key belongs to.' },
    expires: timeOrNull('When the key expires, in UTC; null if it does not.'),
    limits: {
      type: ['object', 'null'],
      description:
        'What the key sees: null for everything of the account, otherwise an object in which a member that is absent limits nothing.',
      required: ['v'],
      properties: {
        v: { type: 'integer', const: 1, description: 'The version of these limits.' },
        surveys: namesOf('Only these surveys.'),
        shortcodes: namesOf('Only the forms with these shortcodes.'),
        questions: namesOf('Only responses to these questions.'),
        without_questions: count('Responses to this many questions are hidden.'),
        metadata: namesOf('Only these keys of the metadata.'),
        pageid: {
          type: 'boolean',
          const: false,
          description: 'No "pageid" (the column and the metadata key).',
        },
        pseudonyms: {
          type: 'string',
          pattern: '^[0-9a-f]{8}$',
          description:
            'Participants have pseudonyms as `userid`. Keys with the same value here have the same pseudonyms.',
        },
      },
    },
  }),
  Error: object({
    error: object({
      message: {
        type: 'string',
        minLength: 1,
        description: 'Describes the error, for people to read.',
      },
    }),
  }),
} satisfies Record<string, SchemaObject>;
