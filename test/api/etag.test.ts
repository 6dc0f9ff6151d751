import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer as ApiResponse, type Page, ask, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';

const DAY = 86_400_000;
const at = (day: number) => new Date(Date.UTC(2026, 2, 1) + day * DAY).toISOString();

/** A survey of two forms and ten responses, a day apart. */
async function surveyOfTen(): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), 'polled', 2);
  await addResponses(
    survey,
    Array.from({ length: 10 }, (_, i) => ({ form: i % 2, timestamp: at(i), question_ref: `q${i}` })),
  );
  return survey;
}

/** What a client remembers of a response. */
interface Known {
  readonly path: string;
  readonly etag: string;
  readonly text: string;
}

type Options = Parameters<typeof ask>[1];

const askFor = (survey: TestSurvey, path: string, options: Options = {}): Promise<ApiResponse> =>
  ask(path, { key: survey.account.key, ...options });

const pageOf = (survey: TestSurvey, parameters: Record<string, string | number | undefined> = {}) =>
  `/responses${query({ survey: survey.name, ...parameters })}`;

async function know(survey: TestSurvey, path: string): Promise<Known> {
  const { status, headers, text } = await askFor(survey, path);
  const etag = headers.get('ETag') ?? '';
  expect([status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\da-f]{32}"$/)]);
  return { path, etag, text };
}

/** In capitals, so that the local runtime does not declare an empty body compressed. */
const GZIP = { 'Accept-Encoding': 'GZIP' };

const poll = (survey: TestSurvey, { path, etag }: Known, method = 'GET') =>
  askFor(survey, path, { method, headers: { ...GZIP, 'If-None-Match': etag } });

/** Polls, and expects 304, or a new body with a new tag. */
async function expectUnchanged(survey: TestSurvey, known: Known): Promise<void> {
  const { status, headers, text } = await poll(survey, known);
  expect([status, headers.get('ETag'), text]).toEqual([304, known.etag, '']);
}
async function expectChanged(survey: TestSurvey, known: Known): Promise<void> {
  const { status, headers, text } = await poll(survey, known);
  expect(status).toBe(200);
  expect(text).not.toBe(known.text);
  expect(headers.get('ETag')).not.toBe(known.etag);
}

async function lastToken(survey: TestSurvey): Promise<string> {
  const { responses } = JSON.parse((await askFor(survey, pageOf(survey))).text) as Page;
  return responses.at(-1)?.token ?? '';
}

describe('a client that has the current body', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await surveyOfTen();
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
    for (const path of paths) await expectUnchanged(survey, await know(survey, path));
  });

  test('gets 304 for an empty list of surveys', async () => {
    const none = { ...survey, account: await createAccount() };
    await expectUnchanged(none, await know(none, '/surveys'));
    await createSurvey(none.account);
    expect((await askFor(none, '/surveys')).text).not.toBe('[]');
  });

  test('gets the headers of a 200, except those of a body', async () => {
    for (const path of [pageOf(survey), '/surveys']) {
      const known = await know(survey, path);
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, bytes } = await poll(survey, known, method);
        expect([status, bytes.length, headers.get('ETag')]).toEqual([304, 0, known.etag]);
        expect(headers.get('Vary')).toBe('Accept-Encoding');
        expect(headers.get('Cache-Control')).toBe('private, no-store');
        expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
        expect(headers.get('Access-Control-Expose-Headers')).toMatch(/\bETag\b/);
        expect([headers.get('Content-Type'), headers.get('Content-Encoding')]).toEqual([null, null]);
      }
    }
  });

  test('can send a list, the strong form, or *', async () => {
    const known = await know(survey, pageOf(survey));
    const strong = known.etag.replace('W/', '');
    for (const etag of [strong, `"other", ${known.etag}`, `${strong},"other"`, '*']) {
      expect((await poll(survey, { ...known, etag })).status).toBe(304);
    }
    for (const etag of ['"other"', known.etag.replaceAll('"', ''), `${known.etag} ${known.etag}`, '']) {
      const { status, text } = await poll(survey, { ...known, etag });
      expect([status, text]).toEqual([200, known.text]);
    }
  });

  test('gets the same tag with and without compression', async () => {
    const known = await know(survey, pageOf(survey));
    const { headers } = await askFor(survey, known.path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(headers.get('ETag')).toBe(known.etag);
  });
});

test('a page with count=true has no tag, and ignores If-None-Match', async () => {
  const survey = await surveyOfTen();
  const known = await know(survey, pageOf(survey));
  const { status, headers } = await poll(survey, { ...known, path: `${known.path}&count=true` });
  expect([status, headers.get('ETag'), headers.get('X-Total-Count')]).toEqual([200, null, '10']);
});

test('a preflight allows If-None-Match', async () => {
  const { headers } = await ask('/responses', {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://example.org',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization,if-none-match',
    },
  });
  expect(headers.get('Access-Control-Allow-Headers')).toBe('Authorization,*');
});

describe('the tag of a page changes', () => {
  const changes: [string, string][] = [
    [
      'a response is changed',
      `update responses set response = 'another' where surveyid = any($1) and question_ref = 'q4'`,
    ],
    [
      'the metadata of a response is changed',
      `update responses set metadata = '{"n": 1.10}' where surveyid = any($1) and question_ref = 'q4'`,
    ],
    [
      'a response gets another key',
      `update responses set userid = 'v' where surveyid = any($1) and question_ref = 'q4'`,
    ],
    ['a response is deleted', `delete from responses where surveyid = any($1) and question_ref = 'q4'`],
    ['a shortcode is changed', `update surveys set shortcode = 'other' where id = any($1)`],
  ];
  test.each(changes)('when %s', async (_, change) => {
    const survey = await surveyOfTen();
    const known = [await know(survey, pageOf(survey)), await know(survey, pageOf(survey, { pageSize: 5 }))];
    await sql(change, [survey.forms.map(({ id }) => id)]);
    for (const page of known) await expectChanged(survey, page);
  });

  test('when the numbers of its metadata are only written differently', async () => {
    const survey = await surveyOfTen();
    const write = (json: string) =>
      sql(`update responses set metadata = $2 where surveyid = any($1)`, [survey.forms.map(({ id }) => id), json]);
    await write('{"n": 1.10}');
    const known = await know(survey, pageOf(survey));
    await write('{"n": 1.1}');
    await expectChanged(survey, known);
  });

  test('but not when its rows were written again without a difference', async () => {
    const survey = await surveyOfTen();
    const page = await know(survey, pageOf(survey));
    const surveys = await know(survey, '/surveys');
    const ids = [survey.forms.map(({ id }) => id)];
    for (const response of ['other', 'Answer']) {
      await sql(`update responses set response = $2 where surveyid = any($1)`, [...ids, response]);
    }
    await sql(`update surveys set title = title where id = any($1)`, ids);
    await expectUnchanged(survey, page);
    await expectUnchanged(survey, surveys);
  });

  test('when a response is added to it, but not when one is added after it', async () => {
    const survey = await surveyOfTen();
    const full = await know(survey, pageOf(survey, { pageSize: 5 }));
    const last = await know(survey, pageOf(survey, { pageSize: 50 }));
    const empty = await know(survey, pageOf(survey, { after: await lastToken(survey) }));
    await addResponses(survey, [{ timestamp: at(20), question_ref: 'new' }]);
    await expectUnchanged(survey, full);
    await expectChanged(survey, last);
    await expectChanged(survey, empty);
    await addResponses(survey, [{ timestamp: at(-1), question_ref: 'first' }]);
    await expectChanged(survey, full);
  });

  test('when its survey loses all responses: that is an error despite If-None-Match', async () => {
    const survey = await surveyOfTen();
    const empty = await know(survey, pageOf(survey, { after: await lastToken(survey) }));
    await sql('delete from responses where surveyid = any($1)', [survey.forms.map(({ id }) => id)]);
    expect((await poll(survey, empty)).status).toBe(500);
    expect((await poll(survey, { ...empty, etag: '*' })).status).toBe(500);
  });
});

describe('the tag of the list of surveys changes with', () => {
  const changes: [string, string][] = [
    ['a title', `update surveys set title = 'another' where id = $1`],
    ['a shortcode', `update surveys set shortcode = 'another' where id = $1`],
    ['metadata', `update surveys set metadata = '{"wave": 7}' where id = $1`],
    ['a time', `update surveys set created = created + interval '1 microsecond' where id = $1`],
    ['a setting', `update survey_settings set off_time = '2027-01-01Z' where surveyid = $1`],
    ['deleted settings', `delete from survey_settings where surveyid = $1`],
    [
      'a new form version',
      `insert into surveys (userid, survey_name, shortcode, title, formid)
       select userid, survey_name, shortcode, title, formid from surveys where id = $1`,
    ],
  ];
  test.each(changes)('%s', async (_, change) => {
    const survey = await surveyOfTen();
    const id = survey.forms[0]?.id;
    const without = await know(survey, '/surveys');
    await sql(`insert into survey_settings values ($1, '{"a": 1}', null)`, [id]);
    await expectChanged(survey, without);
    const known = await know(survey, '/surveys');
    await expectUnchanged(survey, known);
    await sql(change, [id]);
    await expectChanged(survey, known);
  });

  test('a deleted form version', async () => {
    const survey = await createSurvey(await createAccount(), undefined, 2);
    const known = await know(survey, '/surveys');
    await sql('delete from surveys where id = $1', [survey.forms[1]?.id]);
    await expectChanged(survey, known);
  });
});

test('no tag of an account is valid for another, even for equal bodies', async () => {
  const [one, other] = [await surveyOfTen(), await surveyOfTen()];
  for (const path of [pageOf(one), pageOf(one, { after: await lastToken(one) }), '/surveys']) {
    const known = await know(one, path);
    expect((await know(other, path)).etag).not.toBe(known.etag);
    expect((await poll(other, known)).status).toBe(200);
  }
  const tagOfEmptyList = async () => (await know({ ...one, account: await createAccount() }, '/surveys')).etag;
  expect(await tagOfEmptyList()).not.toBe(await tagOfEmptyList());
});

test('while rows are written, no poll gets 304 for a body older than itself', async () => {
  const survey = await surveyOfTen();
  const id = survey.forms[0]?.id;
  const WRITES = 60;
  const progress = { written: 0 };
  const write = async () => {
    for (let n = 1; n <= WRITES; n++) {
      if (n % 2 === 0)
        await sql(`update responses set response = $2 where surveyid = $1 and question_ref = 'q0'`, [id, n]);
      else await addResponses(survey, [{ timestamp: at(n), question_ref: `n${n}`, response: String(n) }]);
      progress.written = n;
      await sleep(n % 10 === 0 ? 200 : 5); // long enough to poll twice without a change
    }
  };
  /** The last write that a page contains. */
  const lastOf = (text: string) =>
    Math.max(...(JSON.parse(text) as Page).responses.map((row) => Number(row['response']) || 0));

  const pages = new Map<string, string>();
  const path = pageOf(survey, { pageSize: 10_000 });
  const count = { 200: 0, 304: 0 };
  const pollOn = async () => {
    let known = await know(survey, path);
    while (progress.written < WRITES) {
      const before = progress.written;
      const { status, headers, text } = await poll(survey, known);
      if (status === 200) known = { path, etag: headers.get('ETag') ?? '', text };
      count[status as 200 | 304]++;
      expect(lastOf(known.text)).toBeGreaterThanOrEqual(before);
      expect(pages.get(known.etag) ?? known.text).toBe(known.text);
      pages.set(known.etag, known.text);
    }
  };
  await Promise.all([write(), pollOn(), pollOn(), pollOn(), pollOn()]);

  expect(count[200]).toBeGreaterThan(10);
  expect(count[304]).toBeGreaterThan(0);
  const { etag, text } = await know(survey, path);
  expect(lastOf(text)).toBe(WRITES);
  for (const old of pages.keys())
    expect((await poll(survey, { path, etag: old, text })).status === 304).toBe(old === etag);
});
