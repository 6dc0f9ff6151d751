/*
 * What the form offers as choices: the forms, questions and metadata keys of a survey.
 */

/** How many of the newest and of the oldest responses are searched for metadata keys. */
const SAMPLE = '100';

/** @typedef {import('./api.mjs').Api} Api */
/** @typedef {import('./choices.mjs').Choice} Choice */

/**
 * The forms, with the titles of their newest versions.
 *
 * @param {Api} api
 * @param {string} survey
 * @param {AbortSignal} signal
 * @returns {Promise<Choice[]>}
 */
export async function formsOf(api, survey, signal) {
  /** @type {{ survey_name: string, shortcode: string, title: string }[]} */
  const versions = await api.json('/surveys', [], signal);
  /** @type {Map<string, Choice>} */
  const forms = new Map();
  for (const { survey_name, shortcode, title } of versions) {
    if (survey_name === survey && !forms.has(shortcode))
      forms.set(shortcode, { value: shortcode, label: title, note: shortcode });
  }
  return [...forms.values()];
}

/**
 * The questions with responses. A question that several forms ask is listed once: the API's filter selects all of them.
 *
 * @param {Api} api
 * @param {string} survey
 * @param {AbortSignal} signal
 * @returns {Promise<Choice[]>}
 */
export async function questionsOf(api, survey, signal) {
  /** @type {{ questions: { question_ref: string, question_text: string }[] }} */
  const { questions } = await api.json(
    '/responses/questions',
    [
      ['survey', survey],
      ['columns', 'question'],
    ],
    signal,
  );
  const byRef = new Map(questions.map((question) => [question.question_ref, question.question_text]));
  return [...byRef].map(([value, text]) => ({ value, label: value, note: text.slice(0, 200) }));
}

/**
 * The metadata keys that occur in the newest and in the oldest responses.
 *
 * @param {Api} api
 * @param {string} survey
 * @param {AbortSignal} signal
 * @returns {Promise<Choice[]>}
 */
export async function metadataKeys(api, survey, signal) {
  const pages = await Promise.all(
    ['desc', 'asc'].map((order) =>
      api.json(
        '/responses',
        [
          ['survey', survey],
          ['pageSize', SAMPLE],
          ['order', order],
        ],
        signal,
      ),
    ),
  );
  const keys = pages.flatMap(({ responses }) =>
    responses.flatMap((/** @type {{ metadata: object | null }} */ { metadata }) => Object.keys(metadata ?? {})),
  );
  return [...new Set(keys)].toSorted((a, b) => a.localeCompare(b)).map((key) => ({ value: key, label: key }));
}
