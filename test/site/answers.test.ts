import { expect, test } from 'vitest';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';
import { openSurvey, selected } from './home.ts';

test('a letter is shown with the label that its own question’s text has, and a participant is a link', async () => {
  const survey = await createSurvey(await createAccount());
  const water = { question_ref: 'water', question_text: 'Where?\nA) A tap\nB) A well' };
  const changed = { ...water, question_text: 'Where?\nA) A tap\nB) A river' };
  await addResponses(survey, [
    { ...changed, userid: 'old', response: 'B', timestamp: '2026-03-01T00:00:00Z' },
    { ...water, userid: 'new', response: 'b', timestamp: '2026-03-02T00:00:00Z' },
    { userid: 'new', response: 'C', timestamp: '2026-03-03T00:00:00Z' },
  ]);
  const page = await openSurvey(survey, { view: 'answers' });
  await page.getByText('b) A well', { exact: true }).waitFor();
  const given = page.locator('.answers > li > div > div:last-child');
  expect(await given.allTextContents()).toEqual(['C', 'b) A well', 'B']);
  await page.getByRole('link', { name: 'old' }).click();
  await selected(page, '1 participant, 1 answer');
  // the newest text of what is selected
  await page.getByText('B) A river', { exact: true }).waitFor();
});
