import { query } from '../../support/api.ts';
import { type Account, type Moment, timestampOf } from '../model/account.ts';
import { tokenOf } from '../model/order.ts';
import type { Parameters } from './parameters.ts';

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
  '/responses/answers',
  '/responses/digests',
] as const;
export type Path = (typeof PATHS)[number];

export interface Request {
  readonly account: Account;
  readonly path: Path;
  readonly parameters: Parameters;
}

/** Path and query of a request. */
export function addressOf({ path, parameters }: Request | Omit<Request, 'account'>): string {
  if (path === '/surveys' || path === '/key') return path;
  const { since, until, after, ...rest } = parameters;
  const token = after && tokenOf(after.response, after.older);
  const textOf = (moment?: Moment) => (moment === undefined ? undefined : timestampOf(moment));
  return path + query({ ...rest, since: textOf(since), until: textOf(until), after: token });
}
