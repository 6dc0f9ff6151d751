import type { Question } from '../api-types.ts';
import { formsOf } from '../offers.ts';
import { changed, filtersOf, zoneOf } from '../selection.ts';
import { formName } from '../texts.ts';
import type { ViewContext } from '../view.ts';
import { questionName } from './split.ts';

/** A question, its form, and how many of the form's participants have their last answer there. */
export interface Asked {
  readonly question: Question;
  readonly form: Form;
  readonly stops: number;
}

interface Form {
  readonly name: string;
  /** How many have an answer to any of its questions. */
  readonly participants: number;
}

/**
 * The questions of a selection that have answers, in the order of the survey. A filter by question
 * does not change any number: participants of a form would be those of the questions.
 */
export async function loadAsked({ session, selection, signal }: ViewContext): Promise<Asked[]> {
  const { results, summaries } = session;
  const params = unfilteredBy(selection);
  const [{ questions }, { forms, stops = [] }, named] = await Promise.all([
    results.get<{ questions: Question[] }>('/responses/questions', params, signal),
    summaries.get([...params, ['stops', 'true']], signal, zoneOf(selection)),
    formsOf(session, selection.get('survey') ?? '', signal),
  ]);

  const titles = new Map(named.map(({ value, label }) => [value, label]));
  const nameOf = (code: string) => formName(titles.get(code) ?? code, code);
  const byCode = new Map(
    forms.map(({ shortcode, participants }): [string, Form] => [
      shortcode,
      { name: nameOf(shortcode), participants },
    ]),
  );
  const lasts = new Map(stops.map((stop) => [questionName(stop), stop.participants]));

  return questions.flatMap((question) => {
    const form = byCode.get(question.shortcode);
    const last = lasts.get(questionName(question)) ?? 0;
    return form ? [{ question, form, stops: last }] : []; // it has got its first answer meanwhile
  });
}

/** The filters of a selection, as the API's parameters, except that by question. */
export const unfilteredBy = (selection: URLSearchParams) =>
  filtersOf(changed(selection, { question_ref: [] }));
