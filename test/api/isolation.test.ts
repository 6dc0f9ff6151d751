import { beforeAll, expect, test } from 'vitest';
import { type Page, fetchApi, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyFormVersions,
  copyResponses,
  createAccount,
  createSurvey,
} from '../support/data.ts';

/** Surveys of two accounts with the same name, shortcodes, user ids, questions and times. */
let mine: TestSurvey;
let theirs: TestSurvey;

beforeAll(async () => {
  const [me, them] = [await createAccount(), await createAccount()];
  mine = await createSurvey(me, 'Shared name', 2);
  theirs = await createSurvey(them, 'Shared name', 2);
  await createSurvey(me, 'Empty here');
  const onlyTheirs = await createSurvey(them, 'Empty here');
  const theirsOnly = await createSurvey(them, 'Theirs only');
  for (const survey of [mine, theirs, onlyTheirs, theirsOnly]) {
    const response = survey === mine ? 'mine' : 'theirs';
    const forms = survey.forms.map((_, form) => form);
    await addResponses(
      survey,
      [...forms, ...forms].map((form, i) => ({ form, response, question_text: response, question_ref: `q${i}` })),
    );
  }
});

test('accounts with a survey of the same name read only their own rows', async () => {
  for (const survey of [mine, theirs]) {
    const { key } = survey.account;
    const parameters = query({ survey: survey.name });
    const { responses } = JSON.parse((await fetchApi(`/responses${parameters}`, { key })).text) as Page;
    const owner = survey === mine ? 'mine' : 'theirs';
    expect(new Set(responses.map((row) => row['response']))).toEqual(new Set([owner]));
    expect(responses).toHaveLength(4);
    expect((await fetchApi(`/responses/csv${parameters}`, { key })).bytes.equals(await copyResponses(survey))).toBe(
      true,
    );
    expect(
      (await fetchApi(`/responses/form-data${parameters}`, { key })).bytes.equals(await copyFormVersions(survey)),
    ).toBe(true);
    const { questions } = JSON.parse((await fetchApi(`/responses/questions${parameters}`, { key })).text) as {
      questions: unknown[];
    };
    expect(questions).toMatchObject([0, 1, 2, 3].map(() => ({ responses: 1, question_text: owner })));
    const { text } = await fetchApi(`/responses/summary${parameters}`, { key });
    expect(JSON.parse(text)).toMatchObject({ responses: 4, participants: 1, days: [{ responses: 4 }] });
    const surveys = JSON.parse((await fetchApi('/surveys', { key })).text) as { id: string }[];
    for (const { id } of survey.forms) expect(surveys.map((form) => form.id)).toContain(id);
    const others = (survey === mine ? theirs : mine).forms.map(({ id }) => id);
    for (const { id } of surveys) expect(others).not.toContain(id);
  }
});

test('a token of another account returns none of its rows', async () => {
  const { responses } = JSON.parse(
    (await fetchApi(`/responses${query({ survey: theirs.name })}`, { key: theirs.account.key })).text,
  ) as Page;
  const foreign = await fetchApi(`/responses${query({ survey: mine.name, after: responses[0]?.token })}`, {
    key: mine.account.key,
  });
  const owners = (JSON.parse(foreign.text) as Page).responses.map((row) => row['response']);
  expect(new Set(owners)).toEqual(new Set(['mine'])); // those that follow the token
});

test.each([
  '/responses',
  '/responses/csv',
  '/responses/xlsx',
  '/responses/form-data',
  '/responses/questions',
  '/responses/summary',
  '/responses/digests',
])('a survey of another account is indistinguishable from one that does not exist: %s', async (path) => {
  const { key, email } = mine.account;
  for (const name of ['Theirs only', 'Nobody’s', 'Empty here']) {
    const response = await fetchApi(path + query({ survey: name }), { key });
    expect(response.status).toBe(500);
    expect(JSON.parse(response.text)).toEqual({
      error: { message: `No responses were found for survey: ${name} for user: ${email}` },
    });
  }
});
