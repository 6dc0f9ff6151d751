import type { Params } from '../api.ts';
import type { Question } from '../api-types.ts';
import { formsOf, metadataKeys } from '../offers.ts';
import { changed, filtersOf, zoneOf } from '../selection.ts';
import { formName } from '../texts.ts';
import type { ViewContext } from '../view.ts';

/** A question that has answers. */
export interface Asked extends Question {
  readonly form: { readonly name: string; readonly participants: number };
}

/** The filters of a selection, as the API's parameters, except that by question. */
export const unfilteredBy = (selection: URLSearchParams): Params =>
  filtersOf(changed(selection, { question_ref: [] }));

/**
 * The questions of a selection that have answers, in the order of the survey, and metadata keys of
 * its answers. A filter by question does not apply: with it, the participants of a form would be
 * those of the questions.
 */
export async function loadAsked({ session, selection, signal }: ViewContext) {
  const survey = selection.get('survey') ?? '';
  const params = unfilteredBy(selection);
  const [{ questions }, { forms }, named, keys] = await Promise.all([
    session.results.get<{ questions: Question[] }>('/responses/questions', params, signal),
    session.summaries.get(params, signal, zoneOf(selection)),
    formsOf(session, survey, signal),
    metadataKeys(session, survey, signal),
  ]);

  const titles = new Map(named.map(({ value, label }) => [value, label]));
  const byCode = new Map(
    forms.map(({ shortcode, participants }): [string, Asked['form']] => {
      const name = formName(titles.get(shortcode) ?? shortcode, shortcode);
      return [shortcode, { name, participants }];
    }),
  );
  const asked = questions.flatMap((question) => {
    const form = byCode.get(question.shortcode);
    return form ? [{ ...question, form }] : []; // it has got its first answer meanwhile
  });
  return { asked, keys: keys.map(({ value }) => value) };
}
