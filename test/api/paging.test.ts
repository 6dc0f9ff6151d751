import { beforeAll, describe, expect, test } from 'vitest';
import { type Page, type ResponseRow, fetchApi, errorBody, query } from '../support/api.ts';
import {
  type TestResponse,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  iso,
  sql,
} from '../support/data.ts';

const TIMES = [
  '2026-03-01T00:03:43.770Z',
  '2026-03-01T00:03:43.770001Z',
  '2026-03-01T00:03:43.770999Z',
  '2026-03-01T00:03:44Z',
];
const IDS = ['', 'a', 'a,b', ',', 'Ω', '漢字', 'עברית', 'e\u0301', '+1555', '"quoted"', '🎉'];

const nameOf = ({ timestamp, userid, question_ref, surveyid }: Record<string, unknown>) =>
  JSON.stringify([timestamp, userid, question_ref, surveyid]);

/** Rows that share milliseconds, users and questions, and tie in all except the form version. */
const rows: TestResponse[] = TIMES.flatMap((timestamp, t) =>
  IDS.flatMap((userid, u) =>
    [0, 1, 2].flatMap((form) => {
      const question_ref = IDS[(u + t) % IDS.length] ?? '';
      return (u + form) % 3 === 0 && u > 3 ? [] : [{ timestamp, userid, question_ref, form }];
    }),
  ),
);

let survey: TestSurvey;
let expected: string[];

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), undefined, 3);
  await addResponses(survey, rows);
  const stored = await sql<{ key: string }>(
    `select concat_ws('|', timestamp, userid, question_ref, surveyid) as key,
       ${iso('r.timestamp')} as timestamp, userid, question_ref, surveyid
     from responses r where surveyid = any($1) order by r.timestamp, userid, question_ref, surveyid`,
    [survey.forms.map(({ id }) => id)],
  );
  expected = stored.map(nameOf);
});

async function page(pageSize: number, after?: string): Promise<ResponseRow[]> {
  const response = await fetchApi(`/responses${query({ survey: survey.name, pageSize, after })}`, {
    key: survey.account.key,
  });
  expect(response.status).toBe(200);
  return (JSON.parse(response.text) as Page).responses;
}

/** Reads all pages as clients do: with the last row's token, until a page is shorter than requested. */
async function readAll(pageSize: number, tokenOf: (row: ResponseRow) => string): Promise<string[]> {
  const read: string[] = [];
  for (let after: string | undefined; ;) {
    const responses = await page(pageSize, after);
    read.push(...responses.map(nameOf));
    const last = responses.at(-1);
    if (!last || responses.length < pageSize) return read;
    after = tokenOf(last);
  }
}

describe('paging', () => {
  test.each([1, 7, 5000])('reads every row once and in order with pageSize=%i', async (pageSize) => {
    expect(expected.length).toBe(rows.length);
    expect(await readAll(pageSize, ({ token }) => token)).toEqual(expected);
  });

  test('ends with an empty page after the last row, and after any later position', async () => {
    const last = (await page(5000)).at(-1);
    for (const after of [last?.token, Buffer.from('2027-01-01 00:00:00+00,,').toString('base64')]) {
      const response = await fetchApi(`/responses${query({ survey: survey.name, after })}`, {
        key: survey.account.key,
      });
      expect([response.status, response.text]).toEqual([200, '{"responses":[]}']);
    }
  });

  test('returns rows stored after the last page was read', async () => {
    const late = await createSurvey(survey.account);
    await addResponses(late, [{ question_ref: 'first' }]);
    const ofLate = async (after?: string) => {
      const response = await fetchApi(`/responses${query({ survey: late.name, after })}`, { key: late.account.key });
      return (JSON.parse(response.text) as Page).responses;
    };
    const [first] = await ofLate();
    await addResponses(late, [{ question_ref: 'second', timestamp: '2026-03-02T00:00:00Z' }]);
    expect((await ofLate(first?.token)).map((row) => row['question_ref'])).toEqual(['second']);
  });
});

describe('a token of the older format', () => {
  const older = ({ timestamp, userid, question_ref }: Record<string, unknown>) =>
    Buffer.from(`${String(timestamp).replace('T', ' ').replace('Z', '+00')},${String(userid)},${String(question_ref)}`);

  test('resumes after all rows with its three values', async () => {
    const all = await page(5000);
    for (const row of all.filter(({ userid }) => !String(userid).includes(','))) {
      const next = all.findLastIndex((other) => older(other).equals(older(row))) + 1;
      const rest = await page(5000, older(row).toString('base64'));
      expect(rest.map(nameOf)).toEqual(expected.slice(next));
    }
  });

  test('may have unescaped plus signs, as base64 in a query string often does', async () => {
    const token = Buffer.from('2026-03-01 00:03:43.770999+00:00,~~~>>>,???').toString('base64');
    expect(token).toContain('+');
    const url = `/responses?survey=${survey.name}&pageSize=5000&after=${token}`;
    const { responses } = JSON.parse((await fetchApi(url, { key: survey.account.key })).text) as Page;
    expect(responses.length).toBeGreaterThan(0);
    expect(responses.every((row) => String(row['timestamp']) >= '2026-03-01T00:03:43.770999Z')).toBe(true);
  });

  test('can be built to start at a date', async () => {
    const token = Buffer.from('2026-02-01 00:00:00+00:00,,').toString('base64');
    expect((await page(5000, token)).map(nameOf)).toEqual(expected);
  });
});

test.each(['', 'garbage', 'bm8gdG9rZW4', 'WzEsMl0', '%00', '💥'])('the token %j gets 400', async (after) => {
  const response = await fetchApi(`/responses${query({ survey: survey.name, after })}`, { key: survey.account.key });
  expect(response.status).toBe(400);
  expect(response.text).toBe(errorBody('after must be the token of a response.'));
});
