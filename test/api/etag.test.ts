import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Page, ask, query } from '../support/api.ts';
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

/** What a client knows that has asked for a page before. */
interface Known {
  readonly path: string;
  readonly etag: string;
  readonly text: string;
}

type Options = Parameters<typeof ask>[1];

const askFor = (survey: TestSurvey, path: string, options: Options = {}): Promise<Answer> =>
  ask(path, { key: survey.account.key, ...options });

const pageOf = (survey: TestSurvey, parameters: Record<string, string | number | undefined> = {}) =>
  `/responses${query({ survey: survey.name, ...parameters })}`;

async function know(survey: TestSurvey, path: string): Promise<Known> {
  const { status, headers, text } = await askFor(survey, path);
  const etag = headers.get('ETag') ?? '';
  expect([status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\da-f]{32}"$/)]);
  return { path, etag, text };
}

/** In capitals, so that the local runtime does not say of an empty body that it is compressed. */
const GZIP = { 'Accept-Encoding': 'GZIP' };

const poll = (survey: TestSurvey, { path, etag }: Known, method = 'GET') =>
  askFor(survey, path, { method, headers: { ...GZIP, 'If-None-Match': etag } });

/** Polls once more: what is known is current, and nothing else comes; or it is not, and the new comes with a new tag. */
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

describe('a client that has what it asks for', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await surveyOfTen();
  });

  test('is told so: full page, last page, empty page, filtered page, surveys', async () => {
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

  test('has the tag of an empty list of surveys, too', async () => {
    const none = { ...survey, account: await createAccount() };
    await expectUnchanged(none, await know(none, '/surveys'));
    await createSurvey(none.account);
    expect((await askFor(none, '/surveys')).text).not.toBe('[]');
  });

  test('gets with a 304 the headers it would get with a 200, but for what describes a body', async () => {
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

  test('may name it among others, as strong, or by *', async () => {
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

  test('has the same tag whether its page came compressed or not', async () => {
    const known = await know(survey, pageOf(survey));
    const { headers } = await askFor(survey, known.path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(headers.get('ETag')).toBe(known.etag);
  });
});

test('a page with a total has no tag, and none is looked at', async () => {
  const survey = await surveyOfTen();
  const known = await know(survey, pageOf(survey));
  const answer = await poll(survey, { ...known, path: `${known.path}&count=true` });
  expect([answer.status, answer.headers.get('ETag'), answer.headers.get('X-Total-Count')]).toEqual([200, null, '10']);
});

test('a preflight allows If-None-Match', async () => {
  const answer = await ask('/responses', {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://example.org',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization,if-none-match',
    },
  });
  expect(answer.headers.get('Access-Control-Allow-Headers')).toBe('Authorization,*');
});

describe('a page has changed', () => {
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

  test('when a response was changed and changed back: nobody looks at what it holds', async () => {
    const survey = await surveyOfTen();
    const known = await know(survey, pageOf(survey));
    for (const response of ['other', 'Answer']) {
      await sql(`update responses set response = $2 where surveyid = any($1)`, [
        survey.forms.map(({ id }) => id),
        response,
      ]);
    }
    const { status, text } = await poll(survey, known);
    expect([status, text]).toEqual([200, known.text]);
  });

  test('when there is a new response on it, but not when that stands behind', async () => {
    const survey = await surveyOfTen();
    const full = await know(survey, pageOf(survey, { pageSize: 5 }));
    const last = await know(survey, pageOf(survey, { pageSize: 50 }));
    const empty = await know(survey, pageOf(survey, { after: await lastToken(survey) }));
    await addResponses(survey, [{ timestamp: at(20), question_ref: 'new' }]);
    await expectUnchanged(survey, full);
    await expectChanged(survey, last);
    await expectChanged(survey, empty);
    await addResponses(survey, [{ timestamp: at(-1), question_ref: 'before all' }]);
    await expectChanged(survey, full);
  });

  test('when rows that were written together move up, to the very places of those before', async () => {
    const survey = await surveyOfTen();
    const ids = [survey.forms.map(({ id }) => id)];
    const known = await know(survey, pageOf(survey, { pageSize: 1 }));
    await sql(`delete from responses where surveyid = any($1) and question_ref = 'q0'`, ids);
    await sql('vacuum full responses');
    await expectChanged(survey, known);
  });

  test('when its survey has lost all its responses: that is an error, as for everybody', async () => {
    const survey = await surveyOfTen();
    const empty = await know(survey, pageOf(survey, { after: await lastToken(survey) }));
    await sql('delete from responses where surveyid = any($1)', [survey.forms.map(({ id }) => id)]);
    expect((await poll(survey, empty)).status).toBe(500);
    expect((await poll(survey, { ...empty, etag: '*' })).status).toBe(500);
  });
});

describe('the list of surveys has changed', () => {
  const changes: [string, string][] = [
    ['a title', `update surveys set title = 'another' where id = $1`],
    ['a shortcode', `update surveys set shortcode = 'another' where id = $1`],
    ['metadata', `update surveys set metadata = '{"wave": 7}' where id = $1`],
    ['a time', `update surveys set created = created + interval '1 microsecond' where id = $1`],
    ['a setting', `update survey_settings set off_time = '2027-01-01Z' where surveyid = $1`],
    ['the settings are gone', `delete from survey_settings where surveyid = $1`],
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

  test('a form version is gone', async () => {
    const survey = await createSurvey(await createAccount(), undefined, 2);
    const known = await know(survey, '/surveys');
    await sql('delete from surveys where id = $1', [survey.forms[1]?.id]);
    await expectChanged(survey, known);
  });
});

test('accounts have nothing in common, not even for the same data', async () => {
  const [one, other] = [await surveyOfTen(), await surveyOfTen()];
  for (const path of [pageOf(one), pageOf(one, { after: await lastToken(one) }), '/surveys']) {
    const known = await know(one, path);
    expect((await know(other, path)).etag).not.toBe(known.etag);
    expect((await poll(other, known)).status).toBe(200);
  }
  const tagOfNothing = async () => (await know({ ...one, account: await createAccount() }, '/surveys')).etag;
  expect(await tagOfNothing()).not.toBe(await tagOfNothing());
});

test('while rows are written, no poll is told that it has what is older than its question', async () => {
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
      await sleep(n % 10 === 0 ? 200 : 5); // time to poll, and then to find nothing new
    }
  };
  /** The last write that a page shows. */
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
