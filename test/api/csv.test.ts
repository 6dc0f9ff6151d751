import { expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { METADATA_KEYS, awkwardResponses } from '../support/awkward-responses.ts';
import { addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';

test('a CSV file equals the output of COPY byte for byte, for awkward texts and metadata', async () => {
  const survey = await createSurvey(await createAccount(), undefined, 3);
  await addResponses(survey, awkwardResponses());
  // A key given twice counts once.
  const path = `/responses/csv${query({ survey: survey.name, metadata: [...METADATA_KEYS, 'n'] })}`;
  const { status, text, bytes } = await fetchApi(path, survey.account);
  const copied = await copyResponses(survey, METADATA_KEYS);
  expect([status, text]).toEqual([200, copied.toString('utf8')]);
  expect(bytes.equals(copied)).toBe(true);
});
