import type { WideParameters } from '../../support/wide.ts';
import type { Account } from '../model/account.ts';
import type { Moment } from '../model/moment.ts';
import { type Position, tokenOf } from '../model/order.ts';

/** A moment, and one way to write it in a request. */
export interface Instant {
  readonly text: string;
  readonly at: Moment;
}

/** The parameters of a request. An endpoint ignores those that it does not know. */
export interface Parameters extends WideParameters {
  readonly survey: string;
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
  readonly userid?: readonly string[] | undefined;
  readonly shortcode?: readonly string[] | undefined;
  readonly question_ref?: readonly string[] | undefined;
  readonly after?: { readonly response: Position; readonly older: boolean } | undefined;
  readonly pageSize?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly count?: boolean | undefined;
  readonly bom?: boolean | undefined;
  readonly safe?: boolean | undefined;
  readonly layout?: 'long' | 'wide' | undefined;
  readonly codebook?: boolean | undefined;
  readonly format?: 'json' | 'csv' | undefined;
  readonly interval?: 'day' | 'hour' | 'month' | undefined;
  readonly timezone?: string | undefined;
}

export const PATHS = [
  '/surveys',
  '/key',
  '/responses',
  '/responses/csv',
  '/responses/ndjson',
  '/responses/xlsx',
  '/responses/form-data',
  '/responses/questions',
  '/responses/summary',
  '/responses/digests',
] as const;
export type Path = (typeof PATHS)[number];

export interface Request {
  readonly account: Account;
  readonly path: Path;
  readonly parameters: Parameters;
}

/** Path and query of a request. */
export function addressOf({ path, parameters }: Request): string {
  if (path === '/surveys' || path === '/key') return path;
  const { since, until, after, ...rest } = parameters;
  const token = after && tokenOf(after.response, after.older);
  const given = { ...rest, since: since?.text, until: until?.text, after: token };
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return `${path}?${new URLSearchParams(pairs).toString()}`;
}
