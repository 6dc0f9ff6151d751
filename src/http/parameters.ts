import { EXAMPLE_TOKEN } from '../responses/columns.ts';
import { FILTERS, FILTER_NAMES, type FilterName, type Filters } from '../responses/filters.ts';
import { decodeCursor, isStorable } from '../responses/cursor.ts';
import { INTERVALS, parseInstant } from '../responses/timestamp.ts';
import { badParameter, missingSurvey } from './errors.ts';
import { type Parameter, choice, flag, parameter, repeatable } from './parse-parameter.ts';

/*
 * The query parameters: what they take, and their OpenAPI descriptions. The message for an invalid value names the
 * parameter: see errors.ts.
 */

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 10_000;
/** What `timezone` takes. */
export const TIME_ZONE = 'the name of a time zone such as Africa/Nairobi, in its exact case';
/** Values of a repeated parameter; they fit into a URL. */
const MAX_VALUES = 500;
const MAX_KEYS = 50;

const instant = (name: string, meaning: string, example: string) =>
  parameter(
    name,
    'a time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00, or a date such as 2026-03-01 (midnight UTC)',
    parseInstant,
    {
      description: `${meaning} RFC 3339 with an offset, or a date, which means midnight UTC.`,
      schema: { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] },
      example,
    },
  );

/** Keys of the metadata. */
const keys = (name: string, description: string, example: string) =>
  repeatable(name, MAX_KEYS, `${description} Repeatable.`, example);

const surveyName: Parameter<string> = {
  required: true,
  description: 'The name of a survey, as listed by `/surveys`.',
  schema: { type: 'string', minLength: 1 },
  example: 'Health & Habits 2026 – Saúde',
  parse([name, ...more]) {
    if (more.length > 0) throw badParameter('survey', 'given once');
    if (!name) throw missingSurvey();
    return name;
  },
};

export const survey = { survey: surveyName };

type FilterParameters = { readonly [Name in FilterName]: Parameter<Filters[Name]> };

/** The filters: parameters of every endpoint under `/responses` except form-data. */
export const filters = Object.fromEntries(
  FILTER_NAMES.map((name) => {
    const { takes, description, example } = FILTERS[name];
    return [
      name,
      takes === 'time'
        ? instant(name, description, example)
        : repeatable(name, MAX_VALUES, `${description} Exact match; repeatable.`, example),
    ];
  }),
) as FilterParameters;

export const after = {
  after: parameter('after', 'the token of a response', decodeCursor, {
    description: 'Only responses after this one: pass the `token` of the last response that you have.',
    schema: { type: 'string' },
    example: EXAMPLE_TOKEN,
  }),
};

export const pageSize = {
  /** Never clamped: clients stop at a page that is shorter than they requested. */
  pageSize: parameter(
    'pageSize',
    `an integer from 1 to ${MAX_PAGE_SIZE}`,
    parsePageSize,
    {
      description: 'The number of responses on a page. A page with fewer is the last.',
      schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
      example: 1000,
    },
    DEFAULT_PAGE_SIZE,
  ),
};

export const order = {
  order: parameter<'asc' | 'desc'>(
    'order',
    'asc or desc',
    (text) => (text === 'asc' || text === 'desc' ? text : undefined),
    {
      description:
        '`asc`: oldest first. `desc`: newest first, the exact reverse of `asc`; with `after`, the page has the responses before the cursor, and `count` counts those.',
      schema: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
      example: 'desc',
    },
    'asc',
  ),
};

/** File endpoints have no `order`, so they ignore `order=asc` like any unknown parameter. */
export const refusedByFiles = {
  'order=desc':
    'order=desc is supported only by /responses: leave order out, and sort the file after the download, or page through /responses.',
};

/** A workbook has no use for the options of CSV, and cannot be continued. */
export const refusedByXlsx = {
  ...refusedByFiles,
  bom: 'bom cannot be used with a workbook: leave it out.',
  safe: 'safe cannot be used with a workbook, in which nothing runs as a formula: leave it out.',
  after: 'after cannot be used with a workbook, which cannot be resumed: use since, or /responses/csv.',
};

export const count = {
  count: flag(
    'count',
    'Adds the header `X-Total-Count`: the number of responses that pass the filters and, with `after`, come after the cursor (with `order=desc`, before it).',
  ),
};

export const codebook = {
  codebook: flag(
    'codebook',
    'Adds a second sheet, `codebook`: the table of `/responses/questions?format=csv` for the same selection.',
  ),
};

export const csvOptions = {
  bom: flag('bom', 'Starts the file with a byte order mark, without which Excel garbles UTF-8.'),
  safe: flag(
    'safe',
    'Puts an apostrophe wherever a spreadsheet could run an answer or a question text as a formula. This changes the data.',
  ),
};

export const metadata = {
  metadata: keys('metadata', 'Adds a column `metadata.<key>` with the value of this metadata key.', 'cluster'),
};

export const layout = {
  layout: choice(
    'layout',
    ['long', 'wide'],
    '`long`: one record per response. `wide`: one record per participant and chain of forms, with one column per question.',
  ),
};

/** The parameters of the wide layout that can leave out participants. Undefined if not given, as {@link wide}. */
export const leftOut = {
  repeats: choice(
    'repeats',
    ['last', 'first', 'drop'],
    'Which answers a wide file keeps if a participant took a form more than once. `last`: the last answer to each question. `first`: only those of the first attempt. `drop`: none; the participant is left out.',
  ),
  require_metadata: keys(
    'require_metadata',
    'Leaves out every participant with a response whose metadata lacks this key or has null for it.',
    'cluster',
  ),
};

/** The parameters of the wide layout. Undefined if not given, so that the long layout can refuse them. */
export const wide = {
  value: choice(
    'value',
    ['response', 'translated', 'label'],
    'The text of each answer in the wide layout. `translated`: the translated answer, or the response if there is none. `label`: for a letter that the question’s text lists as a choice, the label of that choice; otherwise the response.',
  ),
  ...leftOut,
};

export const columns = {
  columns: choice(
    'columns',
    ['form_question', 'question'],
    'The columns of questions. `form_question`: one per form and question, named `<shortcode>.<question_ref>`. `question`: one per `question_ref`, named by it, with the last answer in any form.',
  ),
};

export const format = { format: choice('format', ['json', 'csv'], 'The format of the body.') };

export const interval = {
  interval: choice('interval', INTERVALS, 'What each digest covers: a calendar interval in UTC.'),
};

export const timezone = {
  timezone: parameter(
    'timezone',
    TIME_ZONE,
    (text) => (text !== '' && isStorable(text) ? text : undefined),
    {
      description: 'The time zone in which days begin and end: a case-sensitive name from the IANA time zone database.',
      schema: { type: 'string', default: 'UTC' },
      example: 'Africa/Nairobi',
    },
    'UTC',
  ),
};

function parsePageSize(text: string): number | undefined {
  const size = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= MAX_PAGE_SIZE ? size : undefined;
}
