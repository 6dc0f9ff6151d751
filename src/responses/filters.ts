import type { Microseconds } from './timestamp.ts';

/** A filter of responses: a parameter of every endpoint under `/responses` except form-data. */
interface Filter {
  /** A time, or texts of which one has to match exactly. */
  readonly takes: 'time' | 'texts';
  /** SQL for what is compared with the value. */
  readonly column: string;
  readonly operator: '=' | '>=' | '<';
  readonly description: string;
  readonly example: string;
}

/** All filters, by parameter. */
export const FILTERS = {
  since: {
    takes: 'time',
    column: 'timestamp',
    operator: '>=',
    description: 'Only responses at this time or later.',
    example: '2026-03-01T09:30:00+02:00',
  },
  until: {
    takes: 'time',
    column: 'timestamp',
    operator: '<',
    description: 'Only responses before this time.',
    example: '2026-04-01',
  },
  question_ref: {
    takes: 'texts',
    column: 'question_ref',
    operator: '=',
    description: 'Only answers to this question.',
    example: 'consent',
  },
  /** `select` applies it. */
  shortcode: {
    takes: 'texts',
    column: 'form.shortcode',
    operator: '=',
    description: 'Only responses to the form with this shortcode, in all its versions.',
    example: 'healthstart',
  },
  userid: {
    takes: 'texts',
    column: 'userid',
    operator: '=',
    description: 'Only responses of this participant.',
    example: '9272908327168660',
  },
} as const satisfies Record<string, Filter>;

export type FilterName = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

type Value<Takes> = Takes extends 'time' ? Microseconds : readonly string[];
/** The filters of a request. */
export type Filters = { readonly [Name in FilterName]?: Value<(typeof FILTERS)[Name]['takes']> | undefined };
