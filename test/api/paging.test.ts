import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Page, type ResponseRow, errorBody, fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';

const TIMES = [
  '2026-03-01T00:03:43.770000Z',
  '2026-03-01T00:03:43.770001Z',
  '2026-03-01T00:03:43.770999Z',
  '2026-03-01T00:03:44.000000Z',
  '2026-03-02T00:00:00.000000Z',
];
const TEXTS = ['', 'a', 'a,b', ',', 'Ω', '"quoted"', 'B', '🎉'];
const ORDERS = ['asc', 'desc'] as const;
const FORMS = 4;

/** A response, as Postgres compares and prints it. */
type StoredRow = Record<'timestamp' | 'userid' | 'question_ref' | 'surveyid', string>;

let survey: TestSurvey;

/** Most responses tie with one of another form version, and share their milliseconds with others. */
beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'paged', FORMS);
  await addResponses(
    survey,
    TIMES.flatMap((timestamp, t) =>
      TEXTS.flatMap((userid, u) =>
        TEXTS.flatMap((question_ref, q) =>
          Array.from({ length: FORMS }, (_, form) => ({ timestamp, userid, question_ref, form })).filter(
            ({ form }) => (t + u * q + form) % 3 !== 0,
          ),
        ),
      ),
    ),
  );
});

type Parameters = Record<string, string | number | undefined>;

const fetchPage = (parameters: Parameters) =>
  fetchApi(`/responses${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key });

async function rowsOf(parameters: Parameters): Promise<ResponseRow[]> {
  const response = await fetchPage(parameters);
  expect(response.status).toBe(200);
  return (JSON.parse(response.text) as Page).responses;
}

const nameOf = ({ timestamp, userid, question_ref, surveyid }: Record<string, unknown>) =>
  JSON.stringify([String(timestamp).replace(/(\.\d{3})Z$/, '$1000Z'), userid, question_ref, surveyid]);

interface Filter {
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly userid: string | undefined;
  readonly shortcode: string | undefined;
}

/** The responses that pass a filter, in Postgres's own order. */
const stored = (order: (typeof ORDERS)[number], { since, until, userid, shortcode }: Filter) =>
  sql<StoredRow>(
    `select to_char(r.timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as timestamp, userid, question_ref, surveyid
     from responses r
     where surveyid = any($1) and ($2::timestamptz is null or r.timestamp >= $2) and ($3::timestamptz is null or r.timestamp < $3)
       and ($4::text is null or userid = $4) and ($5::text is null or shortcode = $5)
     order by r.timestamp ${order}, userid ${order}, question_ref ${order}, surveyid ${order}`,
    [survey.forms.map(({ id }) => id), since ?? null, until ?? null, userid ?? null, shortcode ?? null],
  );

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const filter: fc.Arbitrary<Filter> = fc.record({
  since: maybe(TIMES),
  until: maybe(TIMES),
  userid: maybe(TEXTS),
  shortcode: maybe(['f0', 'f1']),
});

describe('pages', () => {
  test('have every row once, in SQL’s own order or its reverse, and count those that follow, for any size and filter', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ORDERS),
        filter,
        fc.integer({ min: 7, max: 200 }),
        async (order, filters, pageSize) => {
          const expected = (await stored(order, filters)).map(nameOf);
          const read: string[] = [];
          for (let after: string | undefined; ;) {
            const response = await fetchPage({ ...filters, order, pageSize, after, count: 'true' });
            expect(response.headers.get('X-Total-Count')).toBe(String(expected.length - read.length));
            const page = (JSON.parse(response.text) as Page).responses;
            read.push(...page.map(nameOf));
            if (page.length < pageSize) break;
            after = page.at(-1)?.token;
          }
          expect(read).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('end with an empty page after the last row, and after any later position', async () => {
    const last = (await rowsOf({ pageSize: 10_000 })).at(-1);
    for (const after of [last?.token, Buffer.from('2027-01-01 00:00:00+00,,').toString('base64')]) {
      const response = await fetchPage({ after });
      expect([response.status, response.text]).toEqual([200, '{"responses":[]}']);
    }
  });

  test.each(['', 'garbage', 'bm8gdG9rZW4', 'WzEsMl0', '%00', '💥'])('cannot follow the token %j', async (after) => {
    const response = await fetchPage({ after });
    expect([response.status, response.text]).toEqual([400, errorBody('after must be the token of a response.')]);
  });
});

describe('order=desc', () => {
  test('returns the objects of order=asc, which is the default', async () => {
    const [byDefault, ascending, descending] = await Promise.all(
      [undefined, 'asc', 'desc'].map((order) => rowsOf({ order, pageSize: 10_000 })),
    );
    expect(ascending).toEqual(byDefault);
    expect(descending?.toReversed()).toEqual(byDefault);
  });

  test.each(['/responses/csv', '/responses/csv?layout=wide', '/responses/ndjson'])(
    'is refused, and order=asc ignored: %s',
    async (path) => {
      const { key } = survey.account;
      const url = `${path}${path.includes('?') ? '&' : '?'}${query({ survey: survey.name }).slice(1)}`;
      const refused = await fetchApi(`${url}&order=desc`, { key });
      expect([refused.status, refused.headers.get('X-Error-Code')]).toEqual([400, 'invalid_parameter']);
      expect(refused.text).toMatch(/^\{"error":\{"message":"order=desc .*leave order out/);
      const ignored = await fetchApi(`${url}&order=asc`, { key });
      expect([ignored.status, ignored.headers.get('X-Ignored-Parameters')]).toEqual([200, 'order']);
      expect(ignored.bytes).toEqual((await fetchApi(url, { key })).bytes);
    },
  );

  test.each(['', 'DESC', 'newest'])('order=%j gets 400', async (order) => {
    const response = await fetchPage({ order });
    expect([response.status, response.text]).toEqual([400, errorBody('order must be asc or desc.')]);
  });
});
