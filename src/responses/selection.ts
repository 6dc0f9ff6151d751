import type { Selection } from '../db/selection.ts';
import type { Form } from '../db/surveys.ts';
import type { Filters } from '../http/params.ts';

/** The part of a survey that a request's filters leave. */
export function select(forms: readonly Form[], filters: Filters): Selection {
  const { since, until, shortcode, userid, question_ref } = filters;
  const wanted = shortcode ? forms.filter((form) => shortcode.includes(form.shortcode)) : forms;
  return { forms: wanted, since, until, userids: userid, questionRefs: question_ref };
}
