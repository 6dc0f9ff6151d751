import { beforeAll, describe, expect, test } from 'vitest';
import { type Page, type ResponseRow, fetchApi, errorBody } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import {
  type TestResponse,
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
} from '../support/data.ts';

const TIMES = [
  '2026-03-01T09:29:59.999999Z',
  '2026-03-01T09:30:00.000000Z',
  '2026-03-01T09:30:00.000001Z',
  '2026-03-01T23:59:59.999999Z',
  '2026-03-02T00:00:00.000000Z',
  '2026-03-05T12:00:00.123456Z',
];
const USERS = ['ann', 'ben', 'Ann', '', 'a,b "c"\n', '1555', '%00', 'ä'];
const QUESTIONS = ['q1', 'q2', 'Q1', 'q1 '];

let survey: TestSurvey;
/** The first line of its CSV file. */
let header: string;
/** The whole survey, read without a filter. */
let all: ResponseRow[];

beforeAll(async () => {
  const account = await createAccount();
  survey = await createSurvey(account, 'to filter', 6); // f0, f0, f1, f1, f2, f2
  const responses: TestResponse[] = [];
  for (const [t, timestamp] of TIMES.entries())
    for (const [u, userid] of USERS.entries())
      for (const [q, question_ref] of QUESTIONS.entries()) {
        responses.push({ form: (t + u + q) % 6, timestamp, userid, question_ref });
        if (u === q) responses.push({ form: (t + u + q + 1) % 6, timestamp, userid, question_ref }); // ties in all except the form version
      }
  await addResponses(survey, responses);
  header = String(await copyResponses(survey)).split('\n', 1)[0] ?? '';
  all = await rows({});
  if (all.length !== responses.length) throw new Error('the API does not return all responses of the test');
});

type Parameters = Record<string, string | readonly string[]>;

/** A query string with repeated parameters. */
function filterQuery(parameters: Parameters): string {
  const pairs = Object.entries({ survey: survey.name, ...parameters }).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return `?${new URLSearchParams(pairs).toString()}`;
}

const fetchFiltered = (path: string, parameters: Parameters) =>
  fetchApi(path + filterQuery(parameters), { key: survey.account.key });

async function rows(parameters: Parameters): Promise<ResponseRow[]> {
  const response = await fetchFiltered('/responses', { pageSize: '1000', ...parameters });
  expect(response.status).toBe(200);
  return (JSON.parse(response.text) as Page).responses;
}

const keyOf = (row: Record<string, unknown>) =>
  JSON.stringify(['timestamp', 'userid', 'question_ref', 'surveyid'].map((name) => row[name]));

const CASES: [Parameters, (row: ResponseRow) => boolean][] = [
  [{ since: '2026-03-01T09:30:00Z' }, (row) => !early(row, 1)],
  [{ since: '2026-03-01T11:30:00.000001+02:00' }, (row) => !early(row, 2)],
  [{ since: '2026-03-01T09:30:00.0000001Z' }, (row) => !early(row, 2)],
  [{ until: '2026-03-01T09:30:00Z' }, (row) => early(row, 1)],
  [{ until: '2026-03-01T09:30:00.000001Z' }, (row) => early(row, 2)],
  [{ since: '2026-03-02' }, (row) => !early(row, 4)],
  [{ until: '2026-03-02' }, (row) => early(row, 4)],
  [{ since: '2026-03-01T09:30:00Z', until: '2026-03-02' }, (row) => early(row, 4) && !early(row, 1)],
  [{ since: '2026-03-02', until: '2026-03-02' }, () => false],
  [{ since: '2026-03-02', until: '2026-03-01' }, () => false],
  [{ since: '9999-12-31T23:59:59.9999999-23:59' }, () => false],
  [{ until: '0001-01-01T00:00:00+23:59' }, () => false],
  [{ question_ref: 'q1' }, (row) => row['question_ref'] === 'q1'],
  [{ question_ref: ['q1', 'q2', 'q1', 'none'] }, (row) => ['q1', 'q2'].includes(String(row['question_ref']))],
  [{ question_ref: 'none' }, () => false],
  [{ shortcode: 'f1' }, (row) => row['shortcode'] === 'f1'],
  [{ shortcode: ['f0', 'f2'] }, (row) => row['shortcode'] !== 'f1'],
  [{ shortcode: 'F1' }, () => false],
  ...USERS.map((userid): [Parameters, (row: ResponseRow) => boolean] => [
    { userid },
    (row) => row['userid'] === userid,
  ]),
  [{ userid: ['ann', 'ben', 'nobody'] }, (row) => ['ann', 'ben'].includes(String(row['userid']))],
  [
    { userid: Array.from({ length: 400 }, (_, i) => (i === 399 ? 'ben' : `nobody ${i}`)) },
    (row) => row['userid'] === 'ben',
  ],
  [{ userid: '%' }, () => false],
  [
    {
      since: '2026-03-01T09:30:00Z',
      until: '2026-03-05',
      shortcode: ['f0', 'f1'],
      userid: ['ann', ''],
      question_ref: 'q1',
    },
    (row) =>
      early(row, 5) &&
      !early(row, 1) &&
      row['shortcode'] !== 'f2' &&
      ['ann', ''].includes(String(row['userid'])) &&
      row['question_ref'] === 'q1',
  ],
];

/** Whether a response is earlier than a time. @param time index in {@link TIMES} */
function early(row: ResponseRow, time: number): boolean {
  const at = String(row['timestamp']).replace(/\.(\d{3})Z$/, '.$1000Z');
  return at < String(TIMES[time]);
}

describe.each(CASES)('%j', (parameters, passes) => {
  const expected = () => all.filter(passes);

  test('selects the rows of /responses', async () => {
    expect(await rows(parameters)).toEqual(expected());
  });

  test('selects and counts the rows of /responses/csv and /responses/ndjson', async () => {
    const csv = await fetchFiltered('/responses/csv', { ...parameters, count: 'true' });
    expect([csv.status, csv.text.split('\n', 1)]).toEqual([200, [header]]);
    expect(parseCsv(csv.bytes).map(keyOf)).toEqual(expected().map(keyOf));
    const ndjson = await fetchFiltered('/responses/ndjson', { ...parameters, count: 'true' });
    expect(ndjson.text).toBe(
      expected()
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    );
    const page = await fetchFiltered('/responses', { ...parameters, count: 'true', pageSize: '1' });
    for (const { headers } of [csv, ndjson, page]) {
      expect(headers.get('X-Total-Count')).toBe(String(expected().length));
    }
  });
});

describe('an invalid value gets 400 with a message that names the parameter', () => {
  const time =
    'must be a time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00, or a date such as 2026-03-01 (midnight UTC).';
  const text = 'must be text without NUL characters, given at most 500 times.';
  test.each<[Parameters, string]>([
    [{ since: '' }, `since ${time}`],
    [{ since: 'yesterday' }, `since ${time}`],
    [{ since: '2026-02-30' }, `since ${time}`],
    [{ since: '2026-03-01T09:30:00' }, `since ${time}`],
    [{ until: '1772323417' }, `until ${time}`],
    [{ since: ['2026-03-01', '2026-03-02'] }, 'since must be given once.'],
    [{ until: ['2026-03-01', '2026-03-01'] }, 'until must be given once.'],
    [{ survey: ['to filter', 'to filter'] }, 'survey must be given once.'],
    [{ userid: 'a\0b' }, `userid ${text}`],
    [{ question_ref: ['q1', '\0'] }, `question_ref ${text}`],
    [{ shortcode: Array.from({ length: 501 }, (_, i) => `f${i}`) }, `shortcode ${text}`],
    [{ count: 'yes' }, 'count must be true or false.'],
    [{ count: '' }, 'count must be true or false.'],
    [{ count: 'constructor' }, 'count must be true or false.'],
    [{ count: '__proto__' }, 'count must be true or false.'],
  ])('%j', async (parameters, message) => {
    for (const path of ['/responses', '/responses/csv', '/responses/ndjson']) {
      const response = await fetchFiltered(path, parameters);
      expect([response.status, response.text]).toEqual([400, errorBody(message)]);
    }
  });
});
