import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiResponse, fetchApi, fetchService, errorBody, query } from '../support/api.ts';
import { type TestAccount, type TestSurvey, createAccount, createSurvey } from '../support/data.ts';

interface App {
  createApp(): { request(path: string, init: RequestInit, env: object, context: object): Promise<Response> };
}

const ENDPOINTS = [
  '/surveys',
  '/responses',
  '/responses/csv',
  '/responses/xlsx',
  '/responses/ndjson',
  '/responses/form-data',
  '/responses/questions',
  '/responses/summary',
  '/responses/digests',
];
const SURVEY_ENDPOINTS = ENDPOINTS.slice(1);

let account: TestAccount;
let empty: TestSurvey;

beforeAll(async () => {
  account = await createAccount();
  empty = await createSurvey(account, 'empty', 2);
});

function expectError(response: ApiResponse, status: number, message: string): void {
  expect([response.status, response.text]).toEqual([status, errorBody(message)]);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect(response.headers.get('X-Error-Code')).toBe(codeOf(status, message));
}

function codeOf(status: number, message: string): string | undefined {
  if (message === 'No user, no responses!') return 'missing_survey';
  return { 401: 'invalid_token', 404: 'not_found', 405: 'method_not_allowed', 500: 'no_responses' }[status];
}

test('an error that is too long to be sent as a whole keeps its status', async () => {
  const survey = '\u0001'.repeat(12_000); // six characters each in JSON
  const response = await fetchApi(`/responses${query({ survey })}`, { key: account.key });
  expectError(response, 500, `No responses were found for survey: ${survey} for user: ${account.email}`);
});

describe('401, before any other error', () => {
  const expectInvalidToken = (response: ApiResponse) => {
    expectError(response, 401, 'Invalid Token.');
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
  };

  test.each([...ENDPOINTS, '/nowhere', '', '/', '/responses/csv/more'])('without a key, for %j', async (path) => {
    expectInvalidToken(await fetchApi(path));
    expectInvalidToken(await fetchApi(path, { method: 'POST' }));
  });
});

describe('400', () => {
  test.each(SURVEY_ENDPOINTS)('for %s without a survey, or with an empty name', async (path) => {
    for (const suffix of ['', '?survey', '?survey=', '?Survey=x']) {
      expectError(await fetchApi(path + suffix, { key: account.key }), 400, 'No user, no responses!');
    }
  });
});

describe('500 for a survey', () => {
  test.each(SURVEY_ENDPOINTS)('that does not exist or has no responses, for %s', async (path) => {
    for (const name of ['no such survey', empty.name, `"<b>é,'`, 'nul\0byte', '%00', '\ud800', 'x'.repeat(5000)]) {
      const shown = name.replace('\ud800', '\ufffd');
      const url = `${path}?${new URLSearchParams({ survey: name }).toString()}`;
      expectError(
        await fetchApi(url, { key: account.key }),
        500,
        `No responses were found for survey: ${shown} for user: ${account.email}`,
      );
    }
  });

  test('that has no responses, even with a token, filters or a layout', async () => {
    const after = Buffer.from('2026-01-01 00:00:00+00,,').toString('base64');
    const filters = { since: '2026-01-01', userid: 'ann', shortcode: 'x', count: 'true' };
    for (const path of [
      `/responses${query({ survey: empty.name, after })}`,
      `/responses/ndjson${query({ survey: empty.name, ...filters })}`,
      `/responses/csv${query({ survey: empty.name, layout: 'wide', userid: 'ann' })}`,
    ]) {
      const message = `No responses were found for survey: empty for user: ${account.email}`;
      expectError(await fetchApi(path, { key: account.key }), 500, message);
    }
  });
});

describe('404 and 405', () => {
  test.each(['/nowhere', '/responses/csv/more', '/Surveys'])('an unknown path, %s', async (path) => {
    expectError(
      await fetchApi(path, { key: account.key }),
      404,
      'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.',
    );
  });

  test('an unknown path outside the API, without a key', async () => {
    expectError(
      await fetchService('/nowhere'),
      404,
      'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.',
    );
  });

  test.each(ENDPOINTS)('another method, for %s', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetchApi(path, { key: account.key, method });
      expectError(response, 405, 'Method not allowed: use GET or HEAD.');
      expect(response.headers.get('Allow')).toBe('GET, HEAD');
    }
  });
});

test('/healthz does not promise that it will help to wait if DATABASE_URL is not set', async () => {
  using log = vi.spyOn(console, 'error').mockImplementation(() => {});
  using _ = vi.spyOn(console, 'log').mockImplementation(() => {});
  // Imported without types, because the app's need the Workers runtime's.
  const module = await vi.importActual<App>('../../src/app.ts');
  const context = { waitUntil() {}, passThroughOnException() {}, props: {} };
  const env = { FAILURE_LIMIT: { limit: async () => ({ success: true }) } };
  const response = await module.createApp().request('/healthz', {}, env, context);
  const message = 'This service has no database: its operator has to configure one.';
  expect([response.status, await response.text()]).toEqual([503, errorBody(message)]);
  expect(log.mock.calls.join()).toContain('npm run dev');
});
