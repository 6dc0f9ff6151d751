import { expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { addResponses, copyFormVersions, createAccount, createSurvey, sql } from '../support/data.ts';

test('equals the output of COPY: one row per form version, numbered per shortcode', async () => {
  const survey = await createSurvey(await createAccount(), 'A, "B"', 5);
  await addResponses(survey, [{}]);
  await sql(`update surveys set created = '2020-01-01Z', metadata = $2 where id = $1`, [
    survey.forms[1]?.id,
    '{"text": "a,\\n\\"b\\"", "n": 123456789012345678901234567890}',
  ]);
  await sql(`update surveys set created = '2020-01-01Z' where id = any($1)`, [
    survey.forms.slice(2, 4).map((f) => f.id),
  ]);
  const response = await fetchApi(`/responses/form-data${query({ survey: survey.name })}`, { key: survey.account.key });
  expect(response.status).toBe(200);
  expect(response.text).toBe((await copyFormVersions(survey)).toString('utf8'));
  expect(response.text.split('\n').map((line) => /,(\d+),20/.exec(line)?.[1])).toEqual([
    ...[undefined, '1', '2', '1', '2', '1', undefined],
  ]);
});
