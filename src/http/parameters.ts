import { FILTERS, FILTER_NAMES, type FilterName, type Filters } from '../responses/filters.ts';
import { parseArm } from '../responses/arm.ts';
import { decodeCursor, isStorable } from '../responses/cursor.ts';
import { INTERVALS, parseInstant } from '../responses/timestamp.ts';
import { badParameter, invalidParameter, missingSurvey } from './errors.ts';
import { type Parameter, choice, flag, integer, repeatable, single } from './parse-parameter.ts';

/** The accepted values of `timezone`, for an error. */
export const TIME_ZONE = 'the name of a time zone such as Africa/Nairobi, in its exact case';

/** The accepted values of `column`, for an error. */
export const COLUMN = 'the name of a question’s column in the wide file of this survey';
/** Those of `by`. */
export const GROUPING =
  COLUMN + ', metadata.<key>, arm.seed_N, or arm.seed_N_M with M from 1 to 10';

/** Arms of more hashes would take the database too long. */
const isGrouping = (name: string) =>
  isStorable(name) && (!name.startsWith('arm.') || (parseArm(name.slice(4))?.hashes ?? 11) <= 10);

const INSTANT =
  'a time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00, or a date such as 2026-03-01 (midnight UTC)';
const filters = Object.fromEntries(
  FILTER_NAMES.map((name) => {
    const { column, description, example } = FILTERS[name];
    if (column !== 'timestamp') {
      const most = 500; // they fit into a URL
      return [name, repeatable(`${description} Exact match.`, example, { most })];
    }

    const parameter = single(INSTANT, parseInstant, {
      description: `${description} Takes ${INSTANT}.`,
      schema: { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] },
      example,
    });
    return [name, parameter];
  }),
) as { readonly [Name in FilterName]: Parameter<Filters[Name]> };

/** The query parameters of all endpoints: how they are parsed, and their OpenAPI descriptions. */
export const parameters = {
  survey: {
    required: true,
    description: 'The name of a survey, as listed by `/surveys`.',
    schema: { type: 'string', minLength: 1 },
    example: 'Health & Habits 2026 – Saúde',
    parse(given, name): string {
      if (given.length > 1) throw badParameter(name, 'given once');
      const [surveyName] = given;
      if (!surveyName) throw missingSurvey();
      return surveyName;
    },
  },
  missing: choice(
    ['500', '404'],
    'The status if the account does not have the survey. With `404`, a survey without responses is no error, and the result is empty.',
  ),
  after: single('the token of a response', decodeCursor, {
    description:
      'Only responses after this one: pass the `token` of the last response that you have.',
    // without an example, because those of an endpoint can be used together
    schema: { type: 'string' },
  }),
  /** Never clamped: clients stop at a page that is shorter than they requested. */
  pageSize: integer(
    10_000,
    25,
    'The number of responses on a page. A page with fewer is the last.',
    1000,
  ),
  ...filters,
  count: flag(
    'Adds the header `X-Total-Count`.',
    false, // beside layout=wide, the example of the same endpoints
  ),
  order: choice(
    ['asc', 'desc'],
    '`asc`: oldest first. `desc`: the exact reverse, so `after` and `count` are about the responses before the cursor.',
  ),
  bom: flag('Starts the file with a byte order mark, without which Excel garbles UTF-8.'),
  safe: flag(
    'Puts an apostrophe wherever a spreadsheet could run an answer or a question text as a formula. This changes the data.',
  ),
  metadata: repeatable(
    'Adds a column `metadata.<key>` with the value of this metadata key.',
    'cluster',
  ),
  arm: repeatable(
    'Adds a column `arm.seed_N_M`, the treatment arm from 1 to N that the survey platform computes from the metadata’s `seed`, hashed M times.',
    'seed_2',
    {
      isValue: (name) => parseArm(name) !== undefined,
      expected: 'seed_N or seed_N_M, with N from 1 to 1000000 and M from 1 to 100',
    },
  ),
  omit: repeatable('Leaves out this column of the long layout.'),
  layout: choice(
    ['long', 'wide'],
    '`long`: one record per response. `wide`: one record per participant and chain of forms, with one column per question.',
  ),
  value: choice(
    ['response', 'translated', 'translated_label', 'label'],
    'The text of each answer in the wide layout. `translated`: the translation, or else the response. `label`: the label of the choice in the question’s text that the response is, or else the response. `translated_label`: that label, or else what `translated` returns.',
  ),
  repeats: choice(
    ['last', 'first', 'drop'],
    'Which answers a wide file keeps if a participant took a form more than once. `last`: the last answer to each question. `first`: only those of the first attempt. `drop`: none; the participant is left out.',
  ),
  require_metadata: repeatable(
    'Leaves out every participant with a response whose metadata lacks this key or has null for it.',
    'cluster',
  ),
  require_question: repeatable(
    'Leaves out every participant without a selected response to each of these questions.',
    'consent',
  ),
  columns: choice(
    ['form_question', 'question'],
    'The columns of questions. `form_question`: one per form and question, named `<shortcode>.<question_ref>`. `question`: one per `question_ref`, named by it, with the last answer in any form.',
  ),
  timing: flag(
    'Adds columns after `attempts`: the numbers of final answers and of corrected ones, the seconds from the first final answer to the last, and the minimum, median, 75th and 90th percentile of the seconds between them.',
  ),
  numbers: flag(
    'Makes numbers of the cells of each question whose answers are all plain decimal numbers of at most 15 digits; of counted answers, adds the distribution of such numbers.',
    false, // beside format=csv, the example of the same endpoint
  ),
  codebook: flag(
    'Adds a second sheet, `codebook`: the table of `/responses/questions?format=csv` for the same selection.',
  ),
  top: integer(1000, 20, 'How many of the most frequent values are listed for each question.', 5),
  column: repeatable(
    'Only this column of the wide file. The numbers are those of the whole selection.',
  ),
  by: single(GROUPING, (name) => (isGrouping(name) ? name : undefined), {
    description: `Also counts answers by the values of this column: ${GROUPING}.`,
    schema: { type: 'string' },
    example: 'metadata.cluster',
  }),
  stops: flag('Adds how many participants have their last response to each question.'),
  format: choice(['json', 'csv'], 'The format of the body.'),
  timezone: single(TIME_ZONE, (text) => (text !== '' && isStorable(text) ? text : undefined), {
    description: `The time zone in which days begin and end: ${TIME_ZONE}.`,
    schema: { type: 'string', default: 'UTC' },
    example: 'Africa/Nairobi',
  }),
  interval: choice(INTERVALS, 'What each digest covers: a calendar interval in UTC.'),
} satisfies Record<string, Parameter<unknown>>;

export type ParameterName = keyof typeof parameters;
/** The values of parameters. */
export type Values<Name extends ParameterName> = {
  readonly [Each in Name]: ReturnType<(typeof parameters)[Each]['parse']>;
};

/**
 * Whether a parameter, of any endpoint, is given with its default value only, which is never an
 * error.
 */
export function isDefault(name: string, given: readonly string[] = []): boolean {
  const schema = Object.hasOwn(parameters, name) ? parameters[name as ParameterName].schema : {};
  return given.every((value) => 'default' in schema && value === String(schema.default));
}

/** The parameters that select responses. */
export const SELECTION = ['survey', 'missing', ...FILTER_NAMES] as const;
/** The parameters by which a wide file leaves out participants. */
export const LEFT_OUT = ['repeats', 'require_metadata', 'require_question'] as const;
/** The parameters that, of the files, only a wide one has. */
export const WIDE = ['value', ...LEFT_OUT, 'columns', 'timing'] as const;

/** The errors for the parameters that only a long file has. */
const LONG: Readonly<Record<string, string>> = {
  omit: 'omit cannot be used with layout=wide: it names columns of the long layout.',
  after:
    'after cannot be used with layout=wide: a wide file is not ordered by time and cannot be resumed.',
  count: 'count cannot be used with layout=wide: the number of records is known only at the end.',
};

/**
 * @param given the parameters of the request
 * @throws ApiError 400 for one that the layout does not support
 */
export function checkLayout({ layout }: Values<'layout'>, given: Record<string, string[]>): void {
  const others = layout === 'long' ? [...WIDE, 'numbers'] : Object.keys(LONG);
  const name = others.find((one) => !isDefault(one, given[one]));
  if (name) throw invalidParameter(LONG[name] ?? `${name} can only be used with layout=wide.`);
}

/** File endpoints have no `order`, so they ignore `order=asc` like any unknown parameter. */
export const refusedByFiles = {
  'order=desc':
    'order=desc is supported only by /responses: leave order out, and sort the file after the download, or page through /responses.',
};
