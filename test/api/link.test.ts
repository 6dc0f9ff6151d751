import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Page, fetchApi, fetchService, origin, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';

const ROWS = 10;
const olderToken = Buffer.from('2026-03-02 00:00:00+00,,').toString('base64url');
const TEXTS = ['', 'a,b', '"quoted"\\', 'Ω\u2028', '🎉\u0001\u007f', '+1555/?'];

let survey: TestSurvey;
let key: string;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'Health & <Habits>; "2026" – Saúde+', 2);
  ({ key } = survey.account);
  await addResponses(
    survey,
    Array.from({ length: ROWS }, (_, i) => ({ form: i % 2, userid: TEXTS[i % TEXTS.length] ?? '' })),
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

describe('a full page', () => {
  test.each(['asc', 'desc'])('links to the next, down to the last, which links to none: order=%s', async (order) => {
    const all = rowsOf(await fetchPage({ order }));
    expect(all).toHaveLength(ROWS);
    let response = await fetchPage({ order, pageSize: 3 });
    const read = rowsOf(response);
    for (let next: URL | undefined; (next = nextOf(response));) {
      expect(next.origin).toBe(origin());
      expect(next.searchParams.get('after')).toBe(read.at(-1)?.token);
      response = await fetchService(next.pathname + next.search, { key });
      expect(response.status).toBe(200);
      read.push(...rowsOf(response));
    }
    expect(read).toEqual(all);
    expect(rowsOf(response)).toHaveLength(ROWS % 3);
  });

  test('links to the same request without count and the parameters that are ignored', async () => {
    const parameters = { since: '2026-03-01T01:00:00+02:00', order: 'desc', pageSize: 2, shortcode: 'f0' };
    const url = `/responses${query({ survey: survey.name, ...parameters })}&shortcode=%66%31&userid=%C3%A9&userid=&after=${olderToken}`;
    const response = await fetchApi(`${url}&count=true&count_=1&x%3e=%3e&%C3%A9=1`, { key });
    const last = rowsOf(response).at(-1)?.token ?? '';
    const next = nextOf(response);
    expect(next?.pathname).toBe('/api/v1/responses');
    expect([...(next?.searchParams ?? [])]).toEqual([
      ['survey', survey.name],
      ...Object.entries(parameters).map(([name, value]) => [name, String(value)]),
      ['shortcode', 'f1'],
      ['userid', 'é'],
      ['userid', ''],
      ['after', last],
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
    const full = await fetchPage({ pageSize: ROWS });
    expect(nextOf(full)).toBeDefined();
    expect(nextOf(await fetchPage({ pageSize: ROWS }, 'HEAD'))).toEqual(nextOf(full));
    const headers = { 'If-None-Match': full.headers.get('ETag') ?? '' };
    const same = await fetchApi(`/responses${query({ survey: survey.name, pageSize: ROWS })}`, { key, headers });
    expect([same.status, nextOf(same)]).toEqual([304, undefined]);
  });

  test('has no link that would be longer than 8 KB', async () => {
    const values = (padding: number) => `&question_ref=q0&question_ref=${'x'.repeat(padding)}`;
    const linkWith = async (padding: number) =>
      nextOf(await fetchApi(`/responses${query({ survey: survey.name, pageSize: 1 })}${values(padding)}`, { key }));
    const { length } = (await linkWith(1))?.href ?? '';
    expect((await linkWith(8192 - length + 1))?.href.length).toBe(8192);
    expect(await linkWith(8192 - length + 2)).toBeUndefined();
  });
});
