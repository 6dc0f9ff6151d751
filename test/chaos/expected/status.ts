import { errorBody } from '../../support/api.ts';
import type { Data, FormVersion } from '../model/account.ts';
import type { Request } from '../requests/request.ts';
import { formsOf } from './select.ts';

/** A status, and the body of an error. */
export interface Status {
  readonly status: number;
  readonly error?: string;
}

/** The statuses that a request may get without a fault. @param forms @param states as for `layoutsOf` */
export function statusesOf(request: Request, forms: readonly FormVersion[], states: readonly Data[]): Status[] {
  const { account, path, parameters } = request;
  const { survey, layout, count } = parameters;
  if (path === '/surveys' || path === '/key') return [{ status: 200 }];
  if (survey === '') return [refusal(400, 'No user, no responses!')];
  if (layout === 'wide' && path === '/responses/csv' && count) {
    const why = 'the number of records is known only at the end';
    return [refusal(400, `count cannot be used with layout=wide: ${why}.`)];
  }
  const ids = new Set(formsOf(parameters, { forms }).map(({ id }) => id));
  return states.map(({ responses }) =>
    responses.some(({ surveyid }) => ids.has(surveyid))
      ? { status: 200 }
      : refusal(500, `No responses were found for survey: ${survey} for user: ${account.email}`),
  );
}

const refusal = (status: number, message: string): Status => ({ status, error: errorBody(message) });
