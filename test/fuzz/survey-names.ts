import { expect } from 'vitest';
import { fetchApi, errorBody, query } from '../support/api.ts';
import { type TestAccount, addResponses, createAccount, createSurvey } from '../support/data.ts';

/** Names that are special in a header, a URL, a file system, SQL or JSON. */
export const SPECIAL_NAMES = [
  ...['a\r\nX-Evil: 1', '"; filename="evil', "a'; --", '../../etc/passwd', '%0d%0a', '%2F', 'a&b=c', 'a+b #c'],
  ...[' ', '\u202eexe.csv', 'x'.repeat(2500), '漢'.repeat(800), '{"error":{}}', '$1', '__proto__', 'null'],
];

/** Each kind of file: its path, its `layout`, and its text for the response `mine` to the form `f0`. */
const FILES = [
  ['/responses/csv', undefined, ',mine,'],
  ['/responses/csv', 'wide', ',mine\n'],
  ['/responses/ndjson', undefined, '"response":"mine"'],
  ['/responses/form-data', undefined, ',f0,'],
] as const;

/** Creates surveys with these names in a new account and exports each. Checks that no other name finds a survey. */
export async function expectFoundByName(names: readonly string[]): Promise<void> {
  const account = await createAccount();
  // One after the other, because a key may have few exports at a time.
  for (const survey of names) await expectNone(survey, account);
  for (const survey of names) await expectFiles(survey, account);
  await expectNone(names.join(''), account);
  const listed = JSON.parse((await fetchApi('/surveys', { key: account.key })).text) as { survey_name: string }[];
  expect(listed.map(({ survey_name }) => survey_name).toSorted()).toEqual(names.toSorted());
}

async function expectNone(survey: string, { key, email }: TestAccount): Promise<void> {
  const { status, text } = await fetchApi(`/responses/csv${query({ survey })}`, { key });
  expect([status, text]).toEqual([500, errorBody(`No responses were found for survey: ${survey} for user: ${email}`)]);
}

async function expectFiles(survey: string, account: TestAccount): Promise<void> {
  await addResponses(await createSurvey(account, survey), [{ response: 'mine' }]);
  for (const [path, layout, contents] of FILES) {
    const { status, headers, text } = await fetchApi(path + query({ survey, layout }), { key: account.key });
    expect([status, headers.get('X-Evil')]).toEqual([200, null]);
    expect(headers.get('Content-Disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
    expect(text).toContain(contents);
  }
}
