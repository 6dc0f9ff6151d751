import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Page, fetchApi, fetchService, origin, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';

const TIMES = ['2026-03-01T00:03:43.77Z', '2026-03-01T00:03:43.770001Z', '2026-03-01T00:03:43.770999Z'];
const TEXTS = ['', 'a', 'a,b', '"quoted"\\', 'Ω\u2028', 'B', '🎉\u0001\u007f', '+1555/?'];
const FORMS = 4;
const ROWS = TIMES.length * TEXTS.length ** 2 * FORMS;

let survey: TestSurvey;
let key: string;

/** Every response ties with those of other form versions, and shares its milliseconds with others. */
beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'Health & <Habits>; "2026" – Saúde+', FORMS);
  ({ key } = survey.account);
  await addResponses(
    survey,
    Array.from({ length: ROWS }, (_, i) => ({
      form: i % FORMS,
      timestamp: TIMES[(i >> 2) % TIMES.length] ?? '',
      userid: TEXTS[Math.floor(i / 12) % TEXTS.length] ?? '',
      question_ref: TEXTS[Math.floor(i / 96)] ?? '',
    })),
  );
});

const fetchPage = (parameters: Record<string, string | number | undefined>, method = 'GET') =>
  fetchApi(`/responses${query({ survey: survey.name, ...parameters })}`, { key, method });
const rowsOf = ({ text }: ApiResponse) => (JSON.parse(text) as Page).responses;

/** The URL in a `Link` header. */
function nextOf({ headers }: ApiResponse): URL | undefined {
  const link = headers.get('Link');
  if (link === null) return undefined;
  expect(link).toMatch(/^<[^<>"\s]+>; rel="next"$/);
  return new URL(link.slice(1, link.indexOf('>')));
}

test.each([
  ['asc', 37],
  ['desc', 96],
])('links lead to every row once, in the order of SQL: order=%s, %i rows at a time', async (order, pageSize) => {
  const expected = await sql<{ form: string; ref: string }>(
    `select surveyid as form, question_ref as ref from responses r where surveyid = any($1)
     order by r.timestamp ${order}, userid ${order}, question_ref ${order}, surveyid ${order}`,
    [survey.forms.map(({ id }) => id)],
  );
  let response = await fetchPage({ order, pageSize });
  const read = rowsOf(response);
  for (let next: URL | undefined; (next = nextOf(response));) {
    expect([next.origin, next.searchParams.get('after')]).toEqual([origin(), read.at(-1)?.token]);
    response = await fetchService(next.pathname + next.search, { key });
    read.push(...rowsOf(response));
  }
  expect(read.map(({ surveyid, question_ref }) => ({ form: surveyid, ref: question_ref }))).toEqual(expected);
  expect(rowsOf(response)).toHaveLength(ROWS % pageSize);
});

describe('a full page', () => {
  test('links to the same request without count and the parameters that are ignored', async () => {
    const parameters = { since: '2026-03-01T01:00:00+02:00', order: 'desc', pageSize: 2, shortcode: 'f0' };
    const older = Buffer.from('2026-03-02 00:00:00+00,,').toString('base64url');
    const url = `/responses${query({ survey: survey.name, ...parameters })}&shortcode=%66%31&userid=%25FF&userid=&after=${older}`;
    const response = await fetchApi(`${url}&count=true&count_=1&x%3e=%3e`, { key });
    const next = nextOf(response);
    expect(next?.pathname).toBe('/api/v1/responses');
    expect([...(next?.searchParams ?? [])]).toEqual([
      ['survey', survey.name],
      ...Object.entries(parameters).map(([name, value]) => [name, String(value)]),
      ['shortcode', 'f1'],
      ['userid', '%FF'],
      ['userid', ''],
      ['after', rowsOf(response).at(-1)?.token],
    ]);
  });

  test('links with the host and the path of the request', async () => {
    const path = `//api/v1//responses/${query({ survey: survey.name, pageSize: 1 })}`;
    const headers = { Authorization: `Bearer ${key}`, Host: 'export.example.org:8443' };
    const [response] = (await once(get(origin() + path, { headers }), 'response')) as [IncomingMessage];
    response.resume();
    expect(response.headers['link']).toMatch(/^<http:\/\/export\.example\.org:8443\/\/api\/v1\/\/responses\/\?survey=/);
  });

  test('links with HEAD too, and not on a 304, whose body the client has with its link', async () => {
    const full = await fetchPage({ pageSize: 5 });
    expect(nextOf(full)).toBeDefined();
    expect(nextOf(await fetchPage({ pageSize: 5 }, 'HEAD'))).toEqual(nextOf(full));
    const headers = { 'If-None-Match': full.headers.get('ETag') ?? '' };
    const same = await fetchApi(`/responses${query({ survey: survey.name, pageSize: 5 })}`, { key, headers });
    expect([same.status, nextOf(same)]).toEqual([304, undefined]);
  });

  test('has no link that would be longer than 8 KB', async () => {
    const values = (padding: number) => `&question_ref=a&question_ref=${'x'.repeat(padding)}`;
    const linkWith = async (padding: number) =>
      nextOf(await fetchApi(`/responses${query({ survey: survey.name, pageSize: 1 })}${values(padding)}`, { key }));
    const { length } = (await linkWith(1))?.href ?? '';
    expect((await linkWith(8192 - length + 1))?.href.length).toBe(8192);
    expect(await linkWith(8192 - length + 2)).toBeUndefined();
  });
});

test('after the last row, and after any later position, there is an empty page', async () => {
  const last = rowsOf(await fetchPage({ pageSize: 10_000 })).at(-1);
  for (const after of [last?.token, Buffer.from('2027-01-01 00:00:00+00,,').toString('base64')]) {
    const { status, text } = await fetchPage({ after });
    expect([status, text]).toEqual([200, '{"responses":[]}']);
  }
});
