import { type Random, below, pick } from '../../support/random.ts';
import type { Account, Moment } from '../model/account.ts';
import { type Position, shortcodesOf } from '../model/order.ts';
import { METADATA_KEYS, QUESTIONS, SHORTCODES, USERIDS } from '../model/random-data.ts';
import { formsOf } from '../expected/select.ts';
import type { Path } from './request.ts';

/** A response that a request can name. */
type Named = Position & { readonly shortcode: string };
type Value = (random: Random, row: Named) => unknown;
/**
 * Random values, all of them valid, but for a column that the table may not have. The row is a
 * response that they can name.
 */
const VALUES = {
  since: (random, { at }): Moment => at + below(random, 2),
  until: (random, { at }): Moment => at + below(random, 2),
  userid: (random, { userid }) => few(random, userid, [...USERIDS, 'U1', 'u']),
  shortcode: (random) => few(random, 'f0', [...SHORTCODES, 'F1', 'f']),
  question_ref: (random, { question_ref }) => few(random, question_ref, [...QUESTIONS, 'Q1', 'q']),
  // In the older format, a `userid` cannot contain a comma.
  after: (random, response): After => ({
    response,
    older: random() < 0.3 && !response.userid.includes(','),
  }),
  pageSize: (random) => pick<number>(random, [1, 2, 3, 5, 8, 25, 100, 100, 350, 350, 1000, 10_000]),
  order: (random) => pick(random, ['asc', 'desc'] as const),
  count: () => true,
  bom: () => true,
  safe: () => true,
  codebook: () => true,
  metadata: (random) => pick(random, [METADATA_KEYS, METADATA_KEYS.slice(0, 1)]),
  value: (random) => pick(random, ['response', 'translated', 'translated_label', 'label'] as const),
  repeats: (random) => pick(random, ['last', 'first', 'drop'] as const),
  require_metadata: (random) => pick(random, [['m'], ['ad_id', 'm']]),
  require_question: (random, { question_ref }) => few(random, question_ref, QUESTIONS),
  arm: () => ARMS,
  timing: () => true,
  omit: (random) =>
    pick(random, [
      ['question_text', 'metadata'],
      ['timestamp'],
      ['surveyid', 'userid', 'question_ref'],
    ]),
  missing: () => '404' as const,
  numbers: () => true,
  column: (random, { shortcode, question_ref }) =>
    few(random, `${shortcode}.${question_ref}`, [question_ref]),
  top: (random) => pick(random, [1, 2, 3, 1000]),
  columns: (random) => pick(random, ['form_question', 'question'] as const),
  by: (random, { shortcode, question_ref }) =>
    pick(random, [
      `${shortcode}.${question_ref}`,
      question_ref,
      `metadata.${pick(random, METADATA_KEYS)}`,
      `arm.${pick(random, ARMS)}`,
    ]),
  stops: () => true,
  format: (random) => pick(random, ['json', 'csv'] as const),
  interval: (random) => pick(random, ['day', 'hour', 'month'] as const),
  timezone: (random) =>
    pick(random, ['Africa/Nairobi', 'America/New_York', 'Asia/Kathmandu', 'CET']),
} satisfies Readonly<Record<string, Value>>;

interface After {
  readonly response: Position;
  readonly older: boolean;
}

/** The parameters of a request. An endpoint ignores those that it does not know. */
export type Parameters = {
  readonly survey: string;
  readonly layout?: 'long' | 'wide' | undefined;
} & {
  readonly [Name in keyof typeof VALUES]?: ReturnType<(typeof VALUES)[Name]> | undefined;
};

export const NAMES: readonly string[] = Object.keys(VALUES);

/** Random values of parameters. */
export const valuesOf = (
  random: Random,
  names: readonly string[],
  row: () => Named,
): Partial<Parameters> =>
  Object.fromEntries(
    names.map((name) => [name, VALUES[name as keyof typeof VALUES]?.(random, row())]),
  );

export const FILTERS: readonly string[] = ['since', 'until', 'userid', 'shortcode', 'question_ref'];
/** One is a key of some metadata. */
const ARMS = ['seed_2', 'seed_25_2', 'seed_7'];
const LEAVING_OUT = ['repeats', 'require_metadata', 'require_question'];
const WIDE = [...LEAVING_OUT, 'value', 'columns', 'metadata', 'arm', 'timing'];
/** The parameters of each path, besides filters; of two, also with `layout=wide`. */
export const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  '/responses': ['after', 'pageSize', 'order', 'count'],
  '/responses/csv': ['after', 'metadata', 'arm', 'omit', 'bom', 'safe', 'count'],
  '/responses/csv wide': [...WIDE, 'bom', 'safe'],
  '/responses/ndjson': ['after', 'omit', 'count'],
  '/responses/xlsx': ['metadata', 'arm', 'omit', 'count', 'codebook'],
  '/responses/xlsx wide': [...WIDE, 'codebook', 'numbers'],
  '/responses/questions': ['format', 'columns', 'safe'],
  '/responses/summary': ['timezone', 'stops', ...LEAVING_OUT],
  '/responses/answers': [
    ...[...LEAVING_OUT, 'value', 'columns', 'top', 'column', 'by', 'numbers', 'format', 'safe'],
  ],
  '/responses/digests': ['interval'],
};

/**
 * Random parameters for a path.
 *
 * @param views the data whose responses filters and cursors can name
 * @param layout either if omitted
 */
export function randomParameters(
  random: Random,
  path: Path,
  survey: string,
  views: readonly Pick<Account, 'data'>[],
  layout = pick(random, ['long', 'wide'] as const),
): Parameters {
  const isWide = layout === 'wide' && PARAMETERS[`${path} wide`] !== undefined;
  const names = PARAMETERS[isWide ? `${path} wide` : path];
  const rows = views.flatMap(({ data }) => {
    const shortcodes = shortcodesOf(formsOf({ survey }, data));
    return data.responses.flatMap((row) => {
      const shortcode = shortcodes.get(row.surveyid);
      return shortcode === undefined ? [] : [{ ...row, shortcode }];
    });
  });
  const missing =
    path.startsWith('/responses') && random() < 0.5 ? ({ missing: '404' } as const) : {};
  if (!names || rows.length === 0) return { survey, ...missing };
  const filters = random() < 0.5 ? FILTERS.filter(() => random() < 0.35) : [];
  const others = names.filter((name) => random() < (name === 'column' ? 0.2 : 0.6));
  const given = valuesOf(random, [...filters, ...others], () => pick(random, rows));
  // is refused
  const count = isWide && path === '/responses/csv' && random() < 0.05 ? { count: true } : {};
  return {
    survey,
    ...missing,
    ...(isWide ? { layout: 'wide' } : {}),
    ...given,
    ...count,
  };
}

const few = (random: Random, own: string, others: readonly string[]) =>
  [own, pick(random, others)].slice(random() < 0.3 ? 1 : 0);
