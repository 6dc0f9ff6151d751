import { pick } from '../../support/random.ts';
import type { Parameters, Path } from '../expected/select.ts';
import { type Response, timestampOf } from '../model/account.ts';
import { type Random, type Sized, below } from '../model/random-data.ts';
import { wideOptions } from './parameters.ts';

/** A request for one of the large surveys, which every fault is combined with. */
export interface Kind {
  readonly name: string;
  readonly path: Path;
  readonly survey: Sized;
  /** The SQL endpoint's limit for a result. */
  readonly maxResultBytes: number;
  readonly method?: 'HEAD';
  /** Whether to read all pages, one after another. */
  readonly isPaged?: boolean;
  /** @param rows the survey's, in order */
  readonly parameters?: (random: Random, rows: readonly Response[]) => Partial<Parameters>;
}

type Form = Omit<Kind, 'name' | 'survey' | 'maxResultBytes'>;

const middle = (random: Random, rows: readonly Response[]) =>
  rows[Math.floor(rows.length * (0.2 + 0.3 * random()))] as Response;
const after = (random: Random, rows: readonly Response[]) => ({
  after: { response: middle(random, rows), older: false },
});
const wide = () => ({ layout: 'wide' as const });
const instant = (second: number) => {
  const at = 1_000_000 * second;
  return { text: timestampOf(at), at };
};
const filters = (random: Random, rows: readonly Response[]) => {
  const second = Math.ceil(middle(random, rows).at / 1_000_000);
  return { shortcode: ['f0'], since: instant(second), until: instant(2 * second + 10) };
};

const FORMS = {
  surveys: { path: '/surveys' },
  key: { path: '/key' },
  'a page': { path: '/responses', parameters: () => ({ pageSize: 1000 }) },
  'the next page': { path: '/responses', parameters: (...of) => ({ ...after(...of), pageSize: 300 }) },
  'the page before': {
    path: '/responses',
    parameters: (...of) => ({ ...after(...of), order: 'desc', pageSize: 100, count: true }),
  },
  'all pages': {
    path: '/responses',
    isPaged: true,
    parameters: (random) => ({ pageSize: pick(random, [100, 350]) + below(random, 50) }),
  },
  csv: { path: '/responses/csv' },
  'csv with filters': { path: '/responses/csv', parameters: filters },
  'csv resumed': { path: '/responses/csv', parameters: (...of) => ({ ...after(...of), count: true }) },
  wide: { path: '/responses/csv', parameters: wide },
  'wide with options': { path: '/responses/csv', parameters: wideOptions },
  ndjson: { path: '/responses/ndjson' },
  xlsx: { path: '/responses/xlsx', parameters: () => ({ count: true }) },
  'wide xlsx': { path: '/responses/xlsx', parameters: wide },
  'form versions': { path: '/responses/form-data' },
  questions: { path: '/responses/questions', parameters: (random) => ({ format: pick(random, ['json', 'csv']) }) },
  summary: { path: '/responses/summary', parameters: (...of) => ({ ...filters(...of), timezone: 'Africa/Nairobi' }) },
  head: { path: '/responses/csv', method: 'HEAD', parameters: () => ({ count: true }) },
} satisfies Record<string, Form>;

const ALL = Object.keys(FORMS) as (keyof typeof FORMS)[];

const kinds = (suffix: string, survey: Sized, maxResultBytes: number, names: readonly (keyof typeof FORMS)[]): Kind[] =>
  names.map((name) => ({ ...(FORMS[name] as Form), name: `${name} ${suffix}`, survey, maxResultBytes }));

/** A few requests to the database. */
export const SMALL: readonly Kind[] = kinds('of few rows', 'few rows', Infinity, ALL);

export const KINDS: readonly Kind[] = [
  ...SMALL,
  // Many requests to the database, one after another.
  ...kinds('in parts', 'few rows', 100_000, [
    'a page',
    'the next page',
    'all pages',
    'csv',
    'csv resumed',
    'wide',
    'ndjson',
    'xlsx',
  ]),
  // Many requests to the database, in parallel.
  ...kinds('of many bytes', 'many bytes', Infinity, ['csv', 'wide', 'ndjson', 'xlsx']),
  // Many requests in parallel, for pages that several queries plan.
  ...kinds('of many pages', 'many pages', 500_000, ['csv', 'wide', 'ndjson']),
];
