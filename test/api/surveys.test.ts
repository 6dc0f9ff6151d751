import { expect, test } from 'vitest';
import { fetchApi } from '../support/api.ts';
import { createAccount, createSurvey, sql } from '../support/data.ts';

test('an account without surveys has an empty list', async () => {
  const { key } = await createAccount();
  const response = await fetchApi('/surveys', { key });
  expect(response.status).toBe(200);
  expect(response.text).toBe('[]');
});

test('lists form versions newest first, then by id, with exactly these fields in this order', async () => {
  const account = await createAccount();
  const survey = await createSurvey(account, 'Étude “1”', 3);
  await sql(`update surveys set created = '2026-02-01T00:00:00Z' where id = any($1)`, [survey.forms.map((f) => f.id)]);
  const [first, second] = survey.forms.map(({ id }) => id).toSorted();
  await sql(`update surveys set created = '2026-02-02T10:00:00.5+02:00', metadata = $2 where id = $1`, [
    second,
    '{"n": 123456789012345678901234567890.10}',
  ]);
  await sql(`insert into survey_settings values ($1, '{"a": 1}', '2026-12-31T23:59:59.000001Z')`, [first]);

  const response = await fetchApi('/surveys', { key: account.key });
  const list = JSON.parse(response.text) as Record<string, unknown>[];
  expect(list.map(({ id }) => id)).toEqual([
    second,
    ...survey.forms
      .map(({ id }) => id)
      .filter((id) => id !== second)
      .toSorted(),
  ]);
  for (const form of list) {
    expect(Object.keys(form)).toEqual([
      ...['id', 'survey_name', 'shortcode', 'title', 'formid', 'created', 'metadata', 'translation_conf', 'off_time'],
      'timeouts',
    ]);
  }
  expect(list[0]).toMatchObject({
    survey_name: 'Étude “1”',
    created: '2026-02-02T08:00:00.500Z',
    off_time: null,
    timeouts: null,
  });
  expect(list[0]).toMatchObject({ translation_conf: {} });
  expect(response.text).toContain('123456789012345678901234567890.10');
  expect(list[1]).toMatchObject({
    id: first,
    created: '2026-02-01T00:00:00.000Z',
    off_time: '2026-12-31T23:59:59.000001Z',
    timeouts: { a: 1 },
  });
});
