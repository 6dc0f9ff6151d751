import { expect, test } from 'vitest';
import { type ApiResponse, fetchApi, fetchService, origin, query } from '../support/api.ts';
import { awkwardResponses } from '../support/awkward-responses.ts';
import { addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { open } from '../support/export.ts';
import { type Parameters, get, rowsOf } from './requests.ts';

// f0, f0, f1
const survey = await createSurvey(await createAccount(), 'Health & <Habits>; "2026" – Saúde+', 3);
const { key } = survey.account;
const participants = awkwardResponses().map((row) => Object.assign(row, { metadata: null }));
const questions = participants.map((row) => Object.assign({}, row, { userid: '' }));
const ties = [0, 1, 2].map((form) => ({ form, userid: '', question_ref: 'a' }));
await addResponses(survey, [...participants, ...questions, ...ties]);

const fetchPage = (parameters: Parameters, method = 'GET') =>
  get('/responses', survey, parameters, { method });

/** The URL in a `Link` header. */
function nextOf({ headers }: ApiResponse): URL | undefined {
  const link = headers.get('Link');
  if (link === null) return undefined;
  expect(link).toMatch(/^<[^<>"\s]+>; rel="next"$/);
  return new URL(link.slice(1, link.indexOf('>')));
}

test.each([
  ['asc', 4],
  ['desc', 19],
])(
  'links lead to every row once, in the order of SQL: order=%s, %i rows at a time',
  async (order, pageSize) => {
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
    expect(
      read.map(({ surveyid, question_ref }) => ({ form: surveyid, ref: question_ref })),
    ).toEqual(expected);
    expect(rowsOf(response)).toHaveLength(expected.length % pageSize);
  },
);

test('a full page links to the same request without count and the parameters that are ignored, with HEAD too', async () => {
  const parameters = {
    since: '2026-03-01T01:00:00+02:00',
    order: 'desc',
    pageSize: 2,
    shortcode: 'f0',
  };
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
  expect(nextOf(await fetchApi(url, { key, method: 'HEAD' }))).toEqual(next);
});

test('a page links with the host and the path of the request', async () => {
  const headers = { Host: 'export.example.org:8443' };
  const response = await open(`//responses/${query({ survey: survey.name, pageSize: 1 })}`, {
    key,
    headers,
  });
  response.resume();
  expect(response.headers['link']).toMatch(
    /^<http:\/\/export\.example\.org:8443\/api\/v1\/\/responses\/\?survey=/,
  );
});

test('a page has no link on a 304, whose body the client has with its link, nor one that would be longer than 8 KB', async () => {
  const { headers } = await fetchPage({ pageSize: 5 });
  const sent = { 'If-None-Match': headers.get('ETag') ?? '' };
  const same = await get('/responses', survey, { pageSize: 5 }, { headers: sent });
  expect([same.status, nextOf(same)]).toEqual([304, undefined]);

  const linkWith = async (length: number) =>
    nextOf(await fetchPage({ pageSize: 1, question_ref: ['a', 'x'.repeat(length)] }));
  const { length } = (await linkWith(1))?.href ?? '';
  expect((await linkWith(8192 - length + 1))?.href.length).toBe(8192);
  expect(await linkWith(8192 - length + 2)).toBeUndefined();
});
