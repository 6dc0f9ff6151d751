import type { Selection } from '../responses/selection.ts';
import { formatInstant } from '../responses/timestamp.ts';
import type { AddParam } from './sql.ts';

/**
 * SQL for the filters of a selection, other than by form version. Column names are not qualified: they must be unambiguous in every
 * query. The codebook relies on filters that depend on nothing but `timestamp`, `userid` and `question_ref`.
 */
export function filterConditions({ since, until, userids, questionRefs }: Partial<Selection>, add: AddParam): string[] {
  return [
    since === undefined ? '' : `timestamp >= ${add(formatInstant(since))}::timestamptz`,
    until === undefined ? '' : `timestamp < ${add(formatInstant(until))}::timestamptz`,
    userids ? `userid = any(${add(userids)})` : '',
    questionRefs ? `question_ref = any(${add(questionRefs)})` : '',
  ].filter((condition) => condition !== '');
}
