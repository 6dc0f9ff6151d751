import type { CURSOR_COLUMNS } from './cursor.ts';
import type { Microseconds } from './timestamp.ts';

/** A filter of responses: a parameter of every endpoint under `/responses` except form-data. */
export interface Filter {
  /**
   * The column that is compared with the value: a time, or texts of which one has to match exactly.
   * Only columns of the indexes can have filters, because a query that has to skip responses reads
   * only the indexes.
   */
  readonly column: (typeof CURSOR_COLUMNS)[number] | 'form.shortcode';
  /** `=` unless given. */
  readonly operator?: '>=' | '<';
  readonly description: string;
  readonly example: string;
}

/** All filters, by parameter. */
export const FILTERS = {
  since: {
    column: 'timestamp',
    operator: '>=',
    description: 'Only responses at this time or later.',
    example: '2026-03-01T09:30:00+02:00',
  },
  until: {
    column: 'timestamp',
    operator: '<',
    description: 'Only responses before this time.',
    example: '2026-04-01',
  },
  question_ref: {
    column: 'question_ref',
    description: 'Only answers to this question.',
    example: 'consent',
  },
  /** `select` applies it. */
  shortcode: {
    column: 'form.shortcode',
    description: 'Only responses to the form with this shortcode, in all its versions.',
    example: 'healthstart',
  },
  userid: {
    column: 'userid',
    description: 'Only responses of this participant.',
    example: '9272908327168660',
  },
} as const satisfies Record<string, Filter>;

export type FilterName = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

type Value<Column> = Column extends 'timestamp' ? Microseconds : readonly string[];
/** The filters of a request. */
export type Filters = {
  readonly [Name in FilterName]?: Value<(typeof FILTERS)[Name]['column']> | undefined;
};
