import { z } from '@hono/zod-openapi';
import { decodeCursor, isStorable } from '../responses/cursor.ts';
import { badParameter, missingSurvey } from './errors.ts';
import { examples } from '../openapi/examples.ts';
import { parseInstant } from '../responses/timestamp.ts';

/*
 * The query parameters: what each takes, what it becomes, and what is said of it in the OpenAPI document. A value that is
 * not taken is an error whose message names the parameter: see errors.ts.
 */

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 10_000;
/** Values of a repeated parameter; an address has room for some more. */
const MAX_VALUES = 500;

/** @param takes what the parameter takes, as the rest of a sentence that starts with its name */
function parameter<T>(name: string, takes: string, read: (text: string) => T | undefined) {
  const once = badParameter(name, 'given once').message;
  return z.string({ error: ({ input }) => (Array.isArray(input) ? once : undefined) }).transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: badParameter(name, takes).message });
    return z.NEVER;
  });
}

/** Takes a parameter any number of times. */
function repeatable(name: string) {
  const { message } = badParameter(name, `text, without NUL characters, given at most ${MAX_VALUES} times`);
  return z
    .union([z.string(), z.array(z.string())])
    .transform((values) => [...new Set([values].flat())])
    .refine((values) => values.length <= MAX_VALUES && values.every(isStorable), { message })
    .optional();
}

const flag = (name: string) =>
  parameter(name, 'true or false', (text) => (text === 'true' ? true : text === 'false' ? false : undefined))
    .optional()
    .openapi({ type: 'boolean', default: false, example: true });

const instant = (name: string, meaning: string, example: string) =>
  parameter(
    name,
    'a time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00, or a date such as 2026-03-01 (which begins in UTC)',
    parseInstant,
  )
    .optional()
    .openapi({
      type: 'string',
      anyOf: [{ format: 'date-time' }, { format: 'date' }],
      description: `${meaning} RFC 3339 with an offset, or a date, which stands for its beginning in UTC.`,
      example,
    });

const list = (description: string, example: string) => ({
  type: 'array' as const,
  items: { type: 'string' as const },
  maxItems: MAX_VALUES,
  description: `${description} Exact; may be given several times.`,
  example: [example],
});

/** Whose name is decoded once. */
export const survey = {
  survey: z
    .string({
      error: ({ input }) =>
        Array.isArray(input) ? badParameter('survey', 'given once').message : missingSurvey().message,
    })
    .min(1, missingSurvey().message)
    .openapi({ description: 'The name of a survey, as `/surveys` has it.', example: 'Health & Habits 2026 – Saúde' }),
};

export const filters = {
  since: instant('since', 'Only responses of this moment or later.', '2026-03-01T09:30:00+02:00'),
  until: instant('until', 'Only responses before this moment.', '2026-04-01'),
  question_ref: repeatable('question_ref').openapi(list('Only answers to this question.', 'consent')),
  shortcode: repeatable('shortcode').openapi(
    list('Only responses to the form of this shortcode, in all its versions.', 'healthstart'),
  ),
  userid: repeatable('userid').openapi(list('Only responses of this participant.', '9272908327168660')),
};

export const after = {
  after: parameter('after', 'the token of a response, as an earlier page gave it', decodeCursor).optional().openapi({
    type: 'string',
    description: 'Only what comes behind this place: the `token` of the last response that you have.',
    example: examples.token,
  }),
};

export const pageSize = {
  /** Never clamped: clients stop paging at a page shorter than they asked for. */
  pageSize: parameter('pageSize', `an integer from 1 to ${MAX_PAGE_SIZE}`, readPageSize)
    .optional()
    .transform((size) => size ?? DEFAULT_PAGE_SIZE)
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: DEFAULT_PAGE_SIZE,
      example: 1000,
      description: 'Responses on a page. A page with fewer is the last.',
    }),
};

export const count = {
  count: flag('count').openapi({
    description:
      'Adds the header `X-Total-Count`: how many responses there are in all, behind `after` where that is given.',
  }),
};

export const csvFormat = {
  bom: flag('bom').openapi({
    description: 'Begins the file with a byte order mark, without which Excel garbles UTF-8.',
  }),
  safe: flag('safe').openapi({
    description:
      'Changes the data: puts an apostrophe before answers and questions that a spreadsheet would run as a formula.',
  }),
};

export const layout = {
  layout: parameter('layout', 'long or wide', (text) => (text === 'long' || text === 'wide' ? text : undefined))
    .optional()
    .openapi({
      type: 'string',
      enum: ['long', 'wide'],
      default: 'long',
      example: 'wide',
      description:
        '`wide`: a record for each participant and chain of forms, a column for each question, with the last answer to it.',
    }),
};

/** What the filters' parameters become. */
export type Filters = z.output<z.ZodObject<typeof filters>>;

function readPageSize(text: string): number | undefined {
  const size = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= MAX_PAGE_SIZE ? size : undefined;
}
