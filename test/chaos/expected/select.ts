import type { Data, FormVersion, Response } from '../model/account.ts';
import { type Position, byCursor, compareLists } from '../model/order.ts';
import type { Parameters } from '../requests/parameters.ts';

/** The form versions of a request's survey. */
export const formsOf = (
  { survey }: Pick<Parameters, 'survey'>,
  { forms }: Pick<Data, 'forms'>,
): FormVersion[] => forms.filter((form) => form.survey === survey);

/**
 * The responses that a request selects, in its order.
 *
 * @param forms those of the survey, perhaps as they were at another moment: those that have left it
 * since count as deleted
 */
export function select(
  parameters: Parameters,
  forms: readonly FormVersion[],
  data: Data,
): Response[] {
  const { since, until, userid, shortcode, question_ref: questions, after, order } = parameters;
  const stored = new Set(formsOf(parameters, data).map(({ id }) => id));
  const selected = forms.filter(
    ({ id, shortcode: own }) => stored.has(id) && (!shortcode || shortcode.includes(own)),
  );
  const ids = new Set(selected.map(({ id }) => id));
  const direction = order === 'desc' ? -1 : 1;
  return data.responses
    .filter(({ surveyid }) => ids.has(surveyid))
    .filter(({ at }) => at >= (since ?? -Infinity) && at < (until ?? Infinity))
    .filter(
      (row) =>
        (!userid || userid.includes(row.userid)) &&
        (!questions || questions.includes(row.question_ref)),
    )
    .filter((row) => !after || direction * distance(row, after) > 0)
    .toSorted((a, b) => direction * byCursor(a, b));
}

/**
 * A token of the older format is before or after all responses that tie in its three values, in
 * either order.
 */
function distance(
  row: Response,
  { response, older }: { response: Position; older: boolean },
): number {
  if (!older) return byCursor(row, response);
  const keyOf = ({ at, userid, question_ref }: Position) => [at, userid, question_ref];
  return compareLists(keyOf(row), keyOf(response));
}
