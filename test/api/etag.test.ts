import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Page, fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';

const DAY = 86_400_000;
const at = (day: number) => new Date(Date.UTC(2026, 2, 1) + day * DAY).toISOString();

/** Creates a survey of two form versions, with ten responses a day apart. */
async function createSurveyOfTen(): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), 'polled', 2);
  await addResponses(
    survey,
    Array.from({ length: 10 }, (_, i) => ({ form: i % 2, timestamp: at(i), question_ref: `q${i}` })),
  );
  return survey;
}

/** A response that a client has cached. */
interface Cached {
  readonly path: string;
  readonly etag: string;
  readonly text: string;
}

type Options = Parameters<typeof fetchApi>[1];

const fetchFor = (survey: TestSurvey, path: string, options: Options = {}): Promise<ApiResponse> =>
  fetchApi(path, { key: survey.account.key, ...options });

const pageOf = (survey: TestSurvey, parameters: Record<string, string | number | undefined> = {}) =>
  `/responses${query({ survey: survey.name, ...parameters })}`;

async function cache(survey: TestSurvey, path: string): Promise<Cached> {
  const { status, headers, text } = await fetchFor(survey, path);
  const etag = headers.get('ETag') ?? '';
  expect([status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\da-f]{32}"$/)]);
  return { path, etag, text };
}

/** In capitals, so that the local runtime does not label an empty body as compressed. */
const GZIP = { 'Accept-Encoding': 'GZIP' };

const poll = (survey: TestSurvey, { path, etag }: Cached, method = 'GET') =>
  fetchFor(survey, path, { method, headers: { ...GZIP, 'If-None-Match': etag } });

/** Polls, and expects 304. */
async function expectUnchanged(survey: TestSurvey, cached: Cached): Promise<void> {
  const { status, headers, text } = await poll(survey, cached);
  expect([status, headers.get('ETag'), text]).toEqual([304, cached.etag, '']);
}

/** Polls, and expects a new body with a new tag. */
async function expectChanged(survey: TestSurvey, cached: Cached): Promise<void> {
  const { status, headers, text } = await poll(survey, cached);
  expect(status).toBe(200);
  expect(text).not.toBe(cached.text);
  expect(headers.get('ETag')).not.toBe(cached.etag);
}

async function lastToken(survey: TestSurvey): Promise<string> {
  const { responses } = JSON.parse((await fetchFor(survey, pageOf(survey))).text) as Page;
  return responses.at(-1)?.token ?? '';
}

describe('a client that has the current body', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await createSurveyOfTen();
  });

  test('gets 304: full page, last page, empty page, filtered page, surveys', async () => {
    const token = await lastToken(survey);
    const paths = [
      pageOf(survey, { pageSize: 3 }),
      pageOf(survey),
      pageOf(survey, { after: token }),
      pageOf(survey, { question_ref: 'q3', since: at(1) }),
      pageOf(survey, { shortcode: 'nobody' }),
      '/surveys',
    ];
    for (const path of paths) await expectUnchanged(survey, await cache(survey, path));
  });

  test('gets 304 for an empty list of surveys', async () => {
    const none = { ...survey, account: await createAccount() };
    await expectUnchanged(none, await cache(none, '/surveys'));
    await createSurvey(none.account);
    expect((await fetchFor(none, '/surveys')).text).not.toBe('[]');
  });

  test('gets the headers of a 200, except those of a body', async () => {
    for (const path of [pageOf(survey), '/surveys']) {
      const cached = await cache(survey, path);
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, bytes } = await poll(survey, cached, method);
        expect([status, bytes.length, headers.get('ETag')]).toEqual([304, 0, cached.etag]);
        expect(headers.get('Vary')).toBe('Accept-Encoding');
        expect(headers.get('Cache-Control')).toBe('private, no-store');
        expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
        expect([headers.get('Content-Type'), headers.get('Content-Encoding')]).toEqual([null, null]);
      }
    }
  });

  test('gets the same tag with and without compression', async () => {
    const cached = await cache(survey, pageOf(survey));
    const { headers } = await fetchFor(survey, cached.path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(headers.get('ETag')).toBe(cached.etag);
  });
});

test('a page with count=true has no tag, and ignores If-None-Match', async () => {
  const survey = await createSurveyOfTen();
  const cached = await cache(survey, pageOf(survey));
  const { status, headers } = await poll(survey, { ...cached, path: `${cached.path}&count=true` });
  expect([status, headers.get('ETag'), headers.get('X-Total-Count')]).toEqual([200, null, '10']);
});

describe('a tag changes', () => {
  /** SQL for a survey's form versions $1, and whether it changes pages and the list of surveys. */
  const changes: [string, ('page' | 'surveys')[], string][] = [
    ['a response', ['page'], `update responses set response = 'x' where surveyid = any($1) and question_ref = 'q4'`],
    ['its key', ['page'], `update responses set userid = 'v' where surveyid = any($1) and question_ref = 'q4'`],
    ['the digits of a number', ['page'], `update responses set metadata = '{"n": 1.1}' where surveyid = any($1)`],
    ['a deleted response', ['page'], `delete from responses where surveyid = any($1) and question_ref = 'q4'`],
    ['a shortcode', ['page', 'surveys'], `update surveys set shortcode = 'other' where id = any($1)`],
    ['a title', ['surveys'], `update surveys set title = 'another' where id = any($1)`],
    ['metadata', ['surveys'], `update surveys set metadata = '{"wave": 7}' where id = any($1)`],
    ['a time', ['surveys'], `update surveys set created = created + interval '1 microsecond' where id = any($1)`],
    ['a setting', ['surveys'], `update survey_settings set off_time = '2027-01-01Z' where surveyid = any($1)`],
    ['deleted settings', ['surveys'], `delete from survey_settings where surveyid = any($1)`],
    [
      'a new form version',
      ['surveys'],
      `insert into surveys (userid, survey_name, shortcode, title, formid)
       select userid, survey_name, shortcode, title, formid from surveys where id = any($1)`,
    ],
  ];
  test.each(changes)('with %s: %j', async (_, changed, change) => {
    const survey = await createSurveyOfTen();
    const ids = survey.forms.map(({ id }) => id);
    await sql(`update responses set metadata = '{"n": 1.10}' where surveyid = any($1)`, [ids]);
    await sql(`insert into survey_settings select id, '{"a": 1}' from unnest($1::uuid[]) form (id)`, [ids]);
    const pages = [await cache(survey, pageOf(survey)), await cache(survey, pageOf(survey, { pageSize: 5 }))];
    const surveys = await cache(survey, '/surveys');
    await sql(change, [ids]);
    const expectAfter = (kind: 'page' | 'surveys') => (changed.includes(kind) ? expectChanged : expectUnchanged);
    for (const page of pages) await expectAfter('page')(survey, page);
    await expectAfter('surveys')(survey, surveys);
  });

  test('but not when its rows are rewritten with the same values', async () => {
    const survey = await createSurveyOfTen();
    const page = await cache(survey, pageOf(survey));
    const surveys = await cache(survey, '/surveys');
    const ids = [survey.forms.map(({ id }) => id)];
    for (const response of ['other', 'Answer']) {
      await sql(`update responses set response = $2 where surveyid = any($1)`, [...ids, response]);
    }
    await sql(`update surveys set title = title where id = any($1)`, ids);
    await expectUnchanged(survey, page);
    await expectUnchanged(survey, surveys);
  });

  test('when a response is added to it, but not when one is added after it', async () => {
    const survey = await createSurveyOfTen();
    const full = await cache(survey, pageOf(survey, { pageSize: 5 }));
    const last = await cache(survey, pageOf(survey, { pageSize: 50 }));
    const empty = await cache(survey, pageOf(survey, { after: await lastToken(survey) }));
    await addResponses(survey, [{ timestamp: at(20), question_ref: 'new' }]);
    await expectUnchanged(survey, full);
    await expectChanged(survey, last);
    await expectChanged(survey, empty);
    await addResponses(survey, [{ timestamp: at(-1), question_ref: 'first' }]);
    await expectChanged(survey, full);
  });

  test('when its survey loses all responses, which is an error despite If-None-Match', async () => {
    const survey = await createSurveyOfTen();
    const empty = await cache(survey, pageOf(survey, { after: await lastToken(survey) }));
    await sql('delete from responses where surveyid = any($1)', [survey.forms.map(({ id }) => id)]);
    expect((await poll(survey, empty)).status).toBe(500);
    expect((await poll(survey, { ...empty, etag: '*' })).status).toBe(500);
  });
});

test('no tag of an account is valid for another, even for equal bodies', async () => {
  const [one, other] = [await createSurveyOfTen(), await createSurveyOfTen()];
  for (const path of [pageOf(one), pageOf(one, { after: await lastToken(one) }), '/surveys']) {
    const cached = await cache(one, path);
    expect((await cache(other, path)).etag).not.toBe(cached.etag);
    expect((await poll(other, cached)).status).toBe(200);
  }
  const tagOfEmptyList = async () => (await cache({ ...one, account: await createAccount() }, '/surveys')).etag;
  expect(await tagOfEmptyList()).not.toBe(await tagOfEmptyList());
});

test('while rows are written, no poll gets 304 for a body that is out of date', async () => {
  const survey = await createSurveyOfTen();
  const id = survey.forms[0]?.id;
  const WRITES = 60;
  const progress = { written: 0 };
  const count = { 200: 0, 304: 0 };
  const untilUnchanged = async () => {
    const before = count[304];
    await expect.poll(() => count[304]).toBeGreaterThan(before);
  };
  const write = async () => {
    for (let n = 1; n <= WRITES; n++) {
      if (n % 2 === 0)
        await sql(`update responses set response = $2 where surveyid = $1 and question_ref = 'q0'`, [id, n]);
      else await addResponses(survey, [{ timestamp: at(n), question_ref: `n${n}`, response: String(n) }]);
      progress.written = n;
      if (n % 10 === 5) await untilUnchanged();
    }
  };
  /** The last write that a page contains. */
  const lastOf = (text: string) =>
    Math.max(...(JSON.parse(text) as Page).responses.map((row) => Number(row['response']) || 0));

  const pages = new Map<string, string>();
  const path = pageOf(survey, { pageSize: 10_000 });
  const pollUntilWritten = async () => {
    let cached = await cache(survey, path);
    while (progress.written < WRITES) {
      const before = progress.written;
      const { status, headers, text } = await poll(survey, cached);
      if (status === 200) cached = { path, etag: headers.get('ETag') ?? '', text };
      count[status as 200 | 304]++;
      expect(lastOf(cached.text)).toBeGreaterThanOrEqual(before);
      expect(pages.get(cached.etag) ?? cached.text).toBe(cached.text);
      pages.set(cached.etag, cached.text);
    }
  };
  await Promise.all([write(), pollUntilWritten(), pollUntilWritten(), pollUntilWritten(), pollUntilWritten()]);

  expect(count[200]).toBeGreaterThan(0);
  const { etag, text } = await cache(survey, path);
  expect(lastOf(text)).toBe(WRITES);
  for (const old of pages.keys())
    expect((await poll(survey, { path, etag: old, text })).status === 304).toBe(old === etag);
});
