import { z } from '@hono/zod-openapi';
import { decodeCursor, isStorable } from '../responses/cursor.ts';
import { parseInstant } from '../responses/timestamp.ts';
import { badParameter, missingSurvey } from './errors.ts';

/*
 * The query parameters: how they are parsed, and their OpenAPI descriptions. The message for an invalid value names the
 * parameter: see errors.ts.
 */

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 10_000;
/** Values of a repeated parameter; they fit into a URL. */
const MAX_VALUES = 500;

export const EXAMPLE_TOKEN =
  'WzEsIjIwMjYtMDEtMDZUMDY6MDA6MDAuMDAwWiIsIjkyNzI5MDgzMjcxNjg2NjAiLCJjb25zZW50IiwiYWY1MDIxZmUtMjI3OS00NGZlLThmOWUtMzk4MGVkZmMwZmU3Il0';

/** @param takes the accepted values, which complete the sentence "<name> must be …" */
function parameter<T>(name: string, takes: string, parse: (text: string) => T | undefined) {
  const once = badParameter(name, 'given once').message;
  return z.string({ error: ({ input }) => (Array.isArray(input) ? once : undefined) }).transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: badParameter(name, takes).message });
    return z.NEVER;
  });
}

/** A parameter that can be repeated. */
function repeatable(name: string) {
  const { message } = badParameter(name, `text without NUL characters, given at most ${MAX_VALUES} times`);
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
    'a time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00, or a date such as 2026-03-01 (midnight UTC)',
    parseInstant,
  )
    .optional()
    .openapi({
      type: 'string',
      anyOf: [{ format: 'date-time' }, { format: 'date' }],
      description: `${meaning} RFC 3339 with an offset, or a date, which means midnight UTC.`,
      example,
    });

const list = (description: string, example: string) => ({
  type: 'array' as const,
  items: { type: 'string' as const },
  maxItems: MAX_VALUES,
  description: `${description} Exact match; repeatable.`,
  example: [example],
});

export const survey = {
  survey: z
    .string({
      error: ({ input }) =>
        Array.isArray(input) ? badParameter('survey', 'given once').message : missingSurvey().message,
    })
    .min(1, missingSurvey().message)
    .openapi({
      description: 'The name of a survey, as listed by `/surveys`.',
      example: 'Health & Habits 2026 – Saúde',
    }),
};

export const filters = {
  since: instant('since', 'Only responses at this time or later.', '2026-03-01T09:30:00+02:00'),
  until: instant('until', 'Only responses before this time.', '2026-04-01'),
  question_ref: repeatable('question_ref').openapi(list('Only answers to this question.', 'consent')),
  shortcode: repeatable('shortcode').openapi(
    list('Only responses to the form with this shortcode, in all its versions.', 'healthstart'),
  ),
  userid: repeatable('userid').openapi(list('Only responses of this participant.', '9272908327168660')),
};

export const after = {
  after: parameter('after', 'the token of a response', decodeCursor).optional().openapi({
    type: 'string',
    description: 'Only responses after this one: pass the `token` of the last response that you have.',
    example: EXAMPLE_TOKEN,
  }),
};

export const pageSize = {
  /** Never clamped: clients stop at a page that is shorter than they requested. */
  pageSize: parameter('pageSize', `an integer from 1 to ${MAX_PAGE_SIZE}`, parsePageSize)
    .optional()
    .transform((size) => size ?? DEFAULT_PAGE_SIZE)
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: DEFAULT_PAGE_SIZE,
      example: 1000,
      description: 'The number of responses on a page. A page with fewer is the last.',
    }),
};

export const count = {
  count: flag('count').openapi({
    description:
      'Adds the header `X-Total-Count`: the number of responses that pass the filters and, with `after`, follow it.',
  }),
};

export const csvOptions = {
  bom: flag('bom').openapi({
    description: 'Starts the file with a byte order mark, without which Excel garbles UTF-8.',
  }),
  safe: flag('safe').openapi({
    description:
      'Puts an apostrophe wherever a spreadsheet could run an answer or a question text as a formula. This changes the data.',
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
        '`long`: one record per response. `wide`: one record per participant and chain of forms, with one column per question, which has the last answer to it.',
    }),
};

function parsePageSize(text: string): number | undefined {
  const size = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= MAX_PAGE_SIZE ? size : undefined;
}
