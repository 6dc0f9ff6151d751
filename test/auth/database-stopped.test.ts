import { expect, test } from 'vitest';
import { ask, askAnywhere, errorBody, query } from '../support/api.ts';
import { createAccount, createSurvey } from '../support/data.ts';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { withKeyService } from './service.ts';

const service = withKeyService();

test('with the database stopped a key in use is still accepted, and what needs data answers 503', async () => {
  const account = await createAccount();
  const survey = await createSurvey(account);
  expect((await ask('/surveys', { key: account.key })).status).toBe(200);
  await expect.poll(() => service.cached(account.key)).not.toBeNull();
  await service.stopDatabase();

  expect((await ask('/nothing-here', { key: account.key })).status).toBe(404);
  expect((await ask('/responses', { key: account.key })).status).toBe(400);
  expect((await ask('/surveys', { key: 'no key' })).status).toBe(401);
  expect((await askAnywhere('/healthz')).status).toBe(503);
  const parameters = query({ survey: survey.name });
  const answers = await Promise.all([
    ask('/surveys', { key: account.key }),
    ask(`/responses${parameters}`, { key: account.key }),
    ask(`/responses/csv${parameters}`, { key: account.key }),
    ask(`/responses/form-data${parameters}`, { key: account.key }),
    ask('/surveys', { key: generateApiKey() }),
  ]);
  for (const { status, text, headers } of answers) {
    expect([status, text, headers.get('Retry-After')]).toEqual([
      503,
      errorBody('The database cannot be reached at the moment. Please try again shortly.'),
      '5',
    ]);
  }
});
