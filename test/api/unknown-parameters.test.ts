import { describe, expect, test } from 'vitest';
import { parameters } from '../../src/http/parameters.ts';
import { PATHS } from '../chaos/requests/request.ts';
import { fetchApi, fetchService, query } from '../support/api.ts';
import { storeSurvey } from '../support/data.ts';
import { expectError } from './requests.ts';

const survey = await storeSurvey([{}]);
const { key } = survey.account;

const SURVEY_PATHS = PATHS.filter((path) => path.startsWith('/responses'));
const SOME_PATHS = ['/responses', '/responses/csv', '/responses/form-data', '/surveys', '/key'];
const pathOf = (path: string, more = '') => `${path}${query({ survey: survey.name })}${more}`;
const IGNORED = 'X-Ignored-Parameters';
const strict = { Prefer: 'return=minimal, handling=strict' };

describe('parameters that an endpoint does not know', () => {
  test('are named once, percent-encoded, also those named like parts of an object', async () => {
    const names = [
      'pagesize',
      'toString',
      '__proto__',
      'a,b',
      'é\r\nX-Injected: 1',
      '💥',
      'pagesize',
    ];
    const pairs = names.map((name) => `${encodeURIComponent(name)}=1`);
    const { status, headers } = await fetchApi(
      pathOf('/responses', `&${pairs.join('&')}&a%00&=x`),
      { key },
    );
    expect([status, headers.get('X-Injected')]).toEqual([200, null]);
    expect(headers.get(IGNORED)?.split(',').map(decodeURIComponent)).toEqual([
      ...names.slice(0, -1),
      'a\0',
    ]);
  });

  test('are named in at most 2 KB, without the rest', async () => {
    const names = Array.from({ length: 400 }, (_, i) => `é${i}`);
    const { headers } = await fetchApi(pathOf('/responses', `&${names.join('&')}`), { key });
    const ignored = headers.get(IGNORED) ?? '';
    expect(ignored.length).toBeLessThanOrEqual(2048);
    expect(ignored.length).toBeGreaterThan(2030);
    const shown = ignored.split(',').map(decodeURIComponent);
    expect(shown).toEqual(names.slice(0, shown.length));
    const long = await fetchApi(pathOf('/responses', `&${'x'.repeat(2049)}&pagesize=1`), { key });
    expect([long.status, long.headers.get(IGNORED)]).toEqual([200, 'pagesize']);
  });

  test('are not checked outside the base path', async () => {
    const { status, headers } = await fetchService('/healthz?x=1', { headers: strict });
    expect([status, headers.get(IGNORED), headers.get('Preference-Applied')]).toEqual([
      200,
      null,
      null,
    ]);
  });

  test.each(SOME_PATHS)('are refused with Prefer: handling=strict: %s', async (path) => {
    const response = await fetchApi(`${path}?x=1&b%22%0d%0a=`, { key, headers: strict });
    expectError(response, 400, 'invalid_parameter', 'Unknown parameters: x,b%22%0D%0A.');
    const { headers } = response;
    expect([headers.get(IGNORED), headers.get('Preference-Applied')]).toEqual([
      null,
      'handling=strict',
    ]);
  });

  test('are named in every other response, which has Preference-Applied with strict handling', async () => {
    const { headers } = await fetchApi(pathOf('/responses'), { key });
    const tag = { 'If-None-Match': headers.get('ETag') ?? '' };
    for (const [status, path] of [
      [304, pathOf('/responses')],
      [400, '/responses?pageSize=0'],
      [400, pathOf('/responses/csv', '&order=desc')],
      [500, '/responses?survey=none'],
    ] as const) {
      const known = await fetchApi(path, { key, headers: { ...tag, ...strict } });
      expect([path, known.status, known.headers.get('Preference-Applied')]).toEqual([
        path,
        status,
        'handling=strict',
      ]);
      const ignoring = await fetchApi(`${path}&x=1`, {
        key,
        headers: { ...tag, Prefer: 'handling=lenient' },
      });
      const named = [IGNORED, 'Preference-Applied'].map((name) => ignoring.headers.get(name));
      expect([path, ignoring.status, ...named]).toEqual([path, status, 'x', null]);
    }
  });
});

/** Every parameter that has a default, with it. */
const defaults = Object.entries(parameters).flatMap(([name, { schema }]) =>
  'default' in schema ? [`${name}=${String(schema.default)}`] : [],
);

test.each(SURVEY_PATHS)(
  'defaults change nothing and are no error, whether the endpoint knows the parameter or not: %s',
  async (path) => {
    expect(defaults.length).toBeGreaterThan(10);
    const plain = await fetchApi(pathOf(path), { key });
    const given = await fetchApi(pathOf(path, `&${defaults.join('&')}`), { key, headers: strict });
    // The bytes of a workbook depend on the time.
    const contentOf = ({ status, text }: typeof plain) => [
      status,
      path === '/responses/xlsx' ? '' : text,
    ];
    expect(contentOf(given)).toEqual([200, contentOf(plain)[1]]);
  },
);

// A partly decoded name or value would select something else without a word.
test.each(['userid=%', 'userid=%FF', 'userid=%ED%A0%80', '%FF=1', '%'])(
  'a query string that is not percent-encoded UTF-8 gets 400: %s',
  async (broken) => {
    for (const path of SOME_PATHS) {
      const { status, headers, text } = await fetchApi(pathOf(path, `&${broken}`), { key });
      expect([path, status, headers.get('X-Error-Code')]).toEqual([path, 400, 'invalid_parameter']);
      expect(text).toContain('The query string must be percent-encoded UTF-8');
    }
  },
);
