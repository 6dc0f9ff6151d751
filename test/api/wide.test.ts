import { expect, test } from 'vitest';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';

test('a wide file has up to 5000 questions', async () => {
  const survey = await createSurvey(await createAccount(), undefined, 3); // f0, f0, f1
  const wide = (shortcode?: string) =>
    fetchApi(`/responses/csv${query({ survey: survey.name, layout: 'wide', shortcode })}`, survey.account);
  await addResponses(
    survey,
    Array.from({ length: 5001 }, (_, i) => ({
      form: i === 5000 ? 2 : i % 2,
      parent: null,
      question_ref: `q${i}`,
    })),
  );
  const refused = await wide();
  expect([refused.status, refused.headers.get('X-Error-Code'), refused.text]).toEqual([
    400,
    'export_too_large',
    errorBody(
      'This selection has more than 5000 questions, or their names are too long for a wide file. ' +
        'Narrow it with shortcode or question_ref, or leave out layout=wide.',
    ),
  ]);
  const [header = '', record = ''] = (await wide('f0')).text.split('\n');
  expect(header.split(',').slice(-5000)).toEqual(Array.from({ length: 5000 }, (_, i) => `f0.q${i}`));
  expect(record.split(',').slice(-5000)).toEqual(Array<string>(5000).fill('Answer'));
});
