import type { FormVersion, Question } from './api-types.ts';
import type { Choice } from './choices.ts';
import { cut } from './long-text.ts';
import type { Session } from './session.ts';

/* What can be chosen: the forms, questions and metadata keys of a survey. */

/** How many of the newest and of the oldest responses are searched for metadata keys. */
const SAMPLE = '100';

/**
 * The forms in the order of a wide file, that of their first versions, with the titles of their
 * newest ones.
 */
export async function formsOf(
  { results }: Session,
  survey: string,
  signal: AbortSignal,
): Promise<Choice[]> {
  const versions = await results.get<FormVersion[]>('/surveys', [], signal);
  const forms = new Map<string, Choice>();
  for (const { survey_name, shortcode, title } of versions.toReversed()) {
    if (survey_name === survey)
      forms.set(shortcode, {
        value: shortcode,
        label: title,
        note: title === shortcode ? '' : shortcode,
      });
  }
  return [...forms.values()];
}

/**
 * The questions with responses. A question that several forms ask is listed once: the API's filter
 * selects all of them.
 */
export async function questionsOf(
  { results }: Session,
  survey: string,
  signal: AbortSignal,
): Promise<Choice[]> {
  const { questions } = await results.get<{
    questions: Pick<Question, 'question_ref' | 'question_text'>[];
  }>('/responses/questions', [['survey', survey]], signal);
  const byRef = new Map(
    questions.map((question) => [question.question_ref, question.question_text]),
  );
  return [...byRef].map(([value, text]) => ({
    value,
    label: cut(text, 200, 1) || value,
    note: value,
  }));
}

/** The metadata keys that occur in the newest and in the oldest responses. */
export async function metadataKeys(
  { results }: Session,
  survey: string,
  signal: AbortSignal,
): Promise<Choice[]> {
  const pages = await Promise.all(
    ['desc', 'asc'].map((order) => {
      const query = Object.entries({ survey, pageSize: SAMPLE, order });
      return results.get<{ responses: { metadata: object | null }[] }>('/responses', query, signal);
    }),
  );
  const rows = pages.flatMap(({ responses }) => responses);
  const keys = rows.flatMap(({ metadata }) => Object.keys(metadata ?? {}));

  return [...new Set(keys)]
    .toSorted((a, b) => a.localeCompare(b))
    .map((key) => ({ value: key, label: key }));
}
