import type { Account, Data, FormVersion, Response } from '../model/account.ts';
import { type Position, byCursor, compareLists } from '../model/order.ts';
import type { Moment } from '../model/moment.ts';

/** A moment, and one way to write it in a request. */
export interface Instant {
  readonly text: string;
  readonly at: Moment;
}

/** The parameters of a request. An endpoint ignores those that it does not know. */
export interface Parameters {
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
  readonly metadata?: readonly string[] | undefined;
  readonly layout?: 'long' | 'wide' | undefined;
  readonly value?: 'response' | 'translated' | 'label' | undefined;
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly require_metadata?: readonly string[] | undefined;
  readonly columns?: 'form_question' | 'question' | undefined;
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

/** The form versions of a request's survey. */
export const formsOf = ({ survey }: Pick<Parameters, 'survey'>, { forms }: Pick<Data, 'forms'>): FormVersion[] =>
  forms.filter((form) => form.survey === survey);

/**
 * The responses that a request selects, in its order.
 *
 * @param forms those of the survey, perhaps as they were at another moment
 */
export function select(
  parameters: Parameters,
  forms: readonly FormVersion[],
  responses: readonly Response[],
): Response[] {
  const { since, until, userid, shortcode, question_ref: questions, after, order } = parameters;
  const ids = new Set(forms.filter((form) => !shortcode || shortcode.includes(form.shortcode)).map(({ id }) => id));
  const selected = responses
    .filter(({ form }) => ids.has(form))
    .filter(({ at }) => (!since || at >= since.at) && (!until || at < until.at))
    .filter((row) => (!userid || userid.includes(row.userid)) && (!questions || questions.includes(row.question)))
    .toSorted(byCursor);
  if (order === 'desc') selected.reverse();
  if (!after) return selected;
  return selected.filter((row) => (order === 'desc' ? -1 : 1) * distance(row, after) > 0);
}

/** A token of the older format is before or after all responses that tie in its three values, in either order. */
function distance(row: Response, { response, older }: { response: Position; older: boolean }): number {
  if (!older) return byCursor(row, response);
  const keyOf = ({ at, userid, question }: Position) => [at, userid, question];
  return compareLists(keyOf(row), keyOf(response));
}
