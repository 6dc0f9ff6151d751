import { expect, test } from 'vitest';
import { PATHS } from '../chaos/requests/request.ts';
import { fetchApi, fetchService, query } from '../support/api.ts';
import { createAccount, createSurvey, storeSurvey } from '../support/data.ts';
import { expectError } from './requests.ts';

const SURVEY_PATHS = PATHS.filter((path) => path.startsWith('/responses'));
/** Filters that would select nothing of a survey with responses, which is no error. */
const NOTHING = { since: '2026-01-01', userid: 'ann', shortcode: 'x' };

const account = await createAccount();
await createSurvey(account, 'empty', 2);
await storeSurvey([{}], { name: 'of another account' });

const noResponses = (survey: string) =>
  `No responses were found for survey: ${survey} for user: ${account.email}`;

test('an error that is too long to be sent as a whole keeps its status', async () => {
  const survey = '\u0001'.repeat(12_000); // six characters each in JSON
  expectError(
    await fetchApi(`/responses${query({ survey })}`, account),
    500,
    'no_responses',
    noResponses(survey),
  );
});

test.each([...PATHS, '/nowhere', '', '/'])(
  '401 without a key, before any other error: %j',
  async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetchApi(path, { method });
      expectError(response, 401, 'invalid_token', 'Invalid Token.');
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
      const refused = await fetchApi(path, { method, key: 'wrong' });
      expect(refused.headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"');
      expect(refused.headers.has('RateLimit-Policy')).toBe(false);
    }
  },
);

test.each(SURVEY_PATHS)('400 without a survey, or with an empty name: %s', async (path) => {
  for (const suffix of ['', '?survey', '?survey=', '?Survey=x']) {
    expectError(
      await fetchApi(path + suffix, account),
      400,
      'missing_survey',
      'No user, no responses!',
    );
  }
});

test.each(SURVEY_PATHS)(
  '500 for a survey that does not exist for the account or has no responses, whatever the client has: %s',
  async (path) => {
    for (const survey of [
      'of another account',
      'empty',
      `no such "<b>é,'`,
      'nul\0byte',
      '%00',
      'x'.repeat(5000),
    ]) {
      const parameters = survey === 'empty' ? NOTHING : {};
      const options = { key: account.key, headers: { 'If-None-Match': '*' } };
      const response = await fetchApi(path + query({ survey, ...parameters }), options);
      expectError(response, 500, 'no_responses', noResponses(survey));
    }
  },
);

const NOT_FOUND =
  'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.';

test.each([
  '/api/v1/nowhere',
  '/api/v1/responses/csv/more',
  '/api/v1/Surveys',
  '/nowhere',
  '/healthz/more',
  '/api/v1/responses%2fcsv',
  '/api/v1/responses/..%2fsurveys',
  '/_headers',
  '/assets/',
  '/assets/home/main.js',
  '/docs/none',
  '//docs',
  '/site/dist/index.html',
])('404 for an unknown path: %s', async (path) => {
  expectError(await fetchService(path, account), 404, 'not_found', NOT_FOUND);
});

test.each([...PATHS.map((path) => `/api/v1${path}`), '/openapi.json', '/healthz'])(
  '405 for a method other than GET and HEAD: %s',
  async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetchService(path, { ...account, method });
      expectError(response, 405, 'method_not_allowed', 'Method not allowed: use GET or HEAD.');
      expect(response.headers.get('Allow')).toBe('GET, HEAD');
    }
  },
);
