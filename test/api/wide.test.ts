import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { anyFilter, pgText, questionText } from '../support/arbitraries.ts';
import { fetchApi, errorBody, query } from '../support/api.ts';
import {
  type TestAccount,
  type TestResponse,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  sql,
} from '../support/data.ts';
import { type WideParameters, wideCsv } from '../support/wide.ts';

type Parameters = Record<string, string | readonly string[] | undefined>;

const wide = (survey: TestSurvey, parameters: Parameters = {}, method = 'GET') =>
  fetchApi(`/responses/csv${query({ survey: survey.name, layout: 'wide', ...parameters })}`, {
    key: survey.account.key,
    method,
  });

const FIXED = 'userid,parent_surveyid,parent_shortcode,flowid,started,ended,attempts,metadata';
const PARENTS = [null, randomUUID(), randomUUID()];

/** Mostly one of these, rarely any text. */
const mostly = (...values: string[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: pgText });

/** Few values, some of which need quotes, so that responses repeat, tie and share chains. */
const anyResponse: fc.Arbitrary<TestResponse> = fc.record({
  form: fc.nat(4),
  timestamp: fc.constantFrom(
    '2026-03-01T00:00:00Z',
    '2026-03-01T00:00:00.000001Z',
    '2025-12-31T23:59:59.123Z',
    '2026-03-02T00:00:00Z',
  ),
  userid: mostly('a', 'b', 'B', 'ä'),
  question_ref: mostly('q1', 'q2', 'q,3', ''),
  question_idx: fc.integer({ min: -3, max: 3 }),
  question_text: questionText,
  response: fc.oneof(pgText, fc.constantFrom('A', 'B', 'b', 'C', 'A ', 'É', 'AB')),
  flowid: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('1', '1', '1', '2', '9223372036854775806', '9223372036854775807') },
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  ),
  translated_response: fc.option(pgText, { nil: null }),
  metadata: fc.option(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('{}', '{"a": "b,c\\n"}', '{"a": "", "n": 1.10}', '{"a": {"b": null}}') },
      { weight: 1, arbitrary: fc.constantFrom('{"a": null, "n": 2}', 'null', '["a"]') },
    ),
    { nil: null, freq: 20 },
  ),
  parent: fc.constantFrom(...PARENTS.slice(0, 2)),
  parent_shortcode: mostly('p', 'p', 'p', 'p,"'),
});

const anyResponses = fc.uniqueArray(anyResponse, {
  minLength: 1,
  maxLength: 60,
  size: 'max',
  selector: ({ form, timestamp, userid, question_ref }) => JSON.stringify([form, timestamp, userid, question_ref]),
});

/** Any parameters of the layout. */
const anyParameters: fc.Arbitrary<WideParameters> = fc.record(
  {
    value: fc.constantFrom('response', 'translated', 'label', 'label'),
    repeats: fc.constantFrom('last', 'first', 'drop'),
    columns: fc.constantFrom('form_question', 'question'),
    metadata: fc.uniqueArray(fc.constantFrom('a', 'n', '', 'x,"y'), { minLength: 1 }),
    require_metadata: fc.constantFrom(['a'], ['a', 'n']),
  },
  { requiredKeys: [] },
);

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

describe('a wide file', () => {
  test('has a record for each participant and chain, for any rows, parameters and filters', async () => {
    const creations = fc.array(fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03'), {
      minLength: 5,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(
        anyResponses,
        creations,
        anyParameters,
        anyFilter,
        async (rows, created, parameters, [filter, where]) => {
          const survey = await createSurvey(account, undefined, 5);
          await sql(
            `update surveys set created = d::timestamptz from unnest($1::uuid[], $2::text[]) v (v, d) where id = v`,
            [survey.forms.map(({ id }) => id), created],
          );
          await addResponses(survey, rows);
          const response = await wide(survey, { ...parameters, ...filter });
          expect([response.status, response.text]).toEqual([200, await wideCsv(survey, where, parameters)]);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('has these records for a small survey', async () => {
    const survey = await createSurvey(account, undefined, 3); // f0, f0, f1
    const at = (second: number) => `2026-03-01T00:00:0${second}Z`;
    const parent = { parent: null, parent_shortcode: 'start', flowid: '7' };
    await addResponses(survey, [
      {
        ...parent,
        userid: 'b',
        question_ref: 'age',
        question_idx: 2,
        timestamp: at(1),
        response: '5',
        metadata: '{"a": 1}',
      },
      { ...parent, userid: 'a', question_ref: 'age', question_idx: 2, timestamp: at(2), response: '6' },
      { ...parent, userid: 'a', question_ref: 'age', question_idx: 2, timestamp: at(3), response: '', form: 1 },
      { ...parent, userid: 'a', question_ref: 'name', question_idx: 1, timestamp: at(4), response: 'x, "y"', form: 2 },
      {
        ...parent,
        userid: 'a',
        question_ref: 'ok',
        question_idx: 1,
        timestamp: at(5),
        response: 'yes',
        form: 1,
        flowid: '8',
      },
      {
        ...parent,
        userid: 'a',
        question_ref: 'age',
        question_idx: 2,
        timestamp: at(6),
        response: '9',
        parent_shortcode: 'z',
      },
    ]);
    const response = await wide(survey);
    expect(response.text).toBe(
      `${FIXED},f0.ok,f0.age,f1.name\n` +
        'a,,start,8,2026-03-01T00:00:02.000Z,2026-03-01T00:00:05.000Z,2,{},yes,"","x, ""y"""\n' +
        'a,,z,7,2026-03-01T00:00:06.000Z,2026-03-01T00:00:06.000Z,1,{},,9,\n' +
        'b,,start,7,2026-03-01T00:00:01.000Z,2026-03-01T00:00:01.000Z,1,"{""a"": 1}",,5,\n',
    );
  });

  test('has every participant once, over many pages and form versions', async () => {
    const survey = await createSurvey(account, undefined, 9);
    const rows = Array.from({ length: 9000 }, (_, i) => ({
      form: i % 9,
      timestamp: new Date(Date.UTC(2026, 2, 1) + ((i * 7919) % 9000)).toISOString(),
      userid: `user ${i % 170}`,
      question_ref: `q${i % 31}`,
      question_idx: (i * 13) % 31,
      parent: PARENTS[i % 3] ?? null,
      response: `answer ${i}, ${'é🎉'.repeat(i % 700)}`,
    }));
    await addResponses(survey, rows);
    const response = await wide(survey);
    expect(response.text === (await wideCsv(survey))).toBe(true);
    expect(new Set(response.text.split('\n').map((line) => line.split(',', 3).join())).size).toBe(170 * 3 + 2);
  });

  test('can have a participant whose responses fill pages and replace each other', async () => {
    const survey = await createSurvey(account, undefined, 2);
    const long = (seed: number) => `${seed},"\n🎉`.repeat(20_000);
    await addResponses(
      survey,
      Array.from({ length: 200 }, (_, i) => ({
        form: i % 2,
        userid: i < 5 ? 'first' : 'second',
        timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
        question_ref: `q${i % 6}`,
        question_idx: i % 6,
        response: long(i),
      })),
    );
    const response = await wide(survey);
    expect(response.bytes.length).toBeGreaterThan(1_000_000);
    expect(response.text === (await wideCsv(survey))).toBe(true);
  });

  test('has separate columns for the same question in different forms, and quotes their names', async () => {
    const survey = await createSurvey(account, undefined, 3);
    await sql('update surveys set shortcode = $2 where id = $1', [survey.forms[2]?.id, 'a,"b"']);
    await addResponses(survey, [
      { form: 0, question_ref: 'q', response: 'of f0' },
      { form: 2, question_ref: 'q', response: 'of the other' },
    ]);
    const response = await wide(survey);
    expect(response.text.split('\n')[0]).toBe(`${FIXED},f0.q,"a,""b"".q"`);
    expect(response.text).toBe(await wideCsv(survey));
  });
});

describe('a wide file with parameters', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await createSurvey(account, undefined, 5);
    await addResponses(
      survey,
      Array.from({ length: 3000 }, (_, i) => ({
        form: (i * 7) % 5,
        timestamp: new Date(Date.UTC(2026, 2, 1) + i * 60_000).toISOString(),
        userid: `u${(i * 31) % 40}`,
        question_ref: `q${i % 11}`,
        question_idx: i % 11,
        parent: PARENTS[i % 3] ?? null,
        // The first is so large that the following pages have few rows each.
        response: i === 0 ? 'x'.repeat(4_000_000) : i % 17 === 0 ? '=1+1' : `answer ${i}`,
      })),
    );
  });

  test('is only the header if nothing matches', async () => {
    for (const filter of [{ since: '2030-01-01' }, { shortcode: 'none' }, { userid: 'nobody' }]) {
      const response = await wide(survey, filter);
      expect([response.status, response.text]).toEqual([200, `${FIXED}\n`]);
    }
  });

  test('starts with a byte order mark with bom=true', async () => {
    const { text } = await wide(survey, { bom: 'true', userid: 'u7' });
    expect(text).toBe(`\uFEFF${await wideCsv(survey, `r.userid = 'u7'`)}`);
  });

  test('has apostrophes before formulas, in responses only, with safe=true', async () => {
    const guarded = (await wideCsv(survey)).replaceAll(',=1+1', `,'=1+1`);
    expect(guarded).toContain(`'=1+1`);
    expect((await wide(survey, { safe: 'true' })).text).toBe(guarded);
  });
});

describe('a wide file gets an error', () => {
  test.each<[Parameters, string]>([
    [{ layout: 'tall' }, 'layout must be long or wide.'],
    [{ layout: '' }, 'layout must be long or wide.'],
    [
      { layout: 'wide', after: Buffer.from('2026-03-01 00:00:00+00,,').toString('base64') },
      'after cannot be used with layout=wide: a wide file is not ordered by time and cannot be resumed.',
    ],
    [
      { layout: 'wide', count: 'true' },
      'count cannot be used with layout=wide: the number of records is known only at the end.',
    ],
    [{ value: 'translated' }, 'value can only be used with layout=wide.'],
    [{ layout: 'long', repeats: 'first' }, 'repeats can only be used with layout=wide.'],
    [{ require_metadata: ['a', 'b'] }, 'require_metadata can only be used with layout=wide.'],
    [{ columns: 'question' }, 'columns can only be used with layout=wide.'],
    [{ layout: 'wide', value: 'raw' }, 'value must be response, translated, or label.'],
    [{ layout: 'wide', repeats: 'all' }, 'repeats must be last, first, or drop.'],
    [{ layout: 'wide', columns: 'form' }, 'columns must be form_question or question.'],
  ])('with %j', async (parameters, message) => {
    const survey = await createSurvey(account);
    await addResponses(survey, [{}]);
    const response = await wide(survey, { layout: undefined, ...parameters });
    expect([response.status, response.text]).toEqual([400, errorBody(message)]);
    expect((await wide(survey, { count: 'false' })).status).toBe(200);
  });

  test('with more than 5000 questions, but not with 5000', async () => {
    const survey = await createSurvey(account, undefined, 3);
    const rows = Array.from({ length: 5001 }, (_, i) => ({ form: i === 5000 ? 2 : i % 2, question_ref: `q${i}` }));
    await addResponses(survey, rows);
    const response = await wide(survey);
    expect([response.status, response.text]).toEqual([
      400,
      errorBody(
        'This selection has more than 5000 questions, or their names are too long for a wide file. ' +
          'Narrow it with shortcode or question_ref, or leave out layout=wide.',
      ),
    ]);
    expect((await wide(survey, { shortcode: 'f0' })).text).toBe(await wideCsv(survey, `s.shortcode = 'f0'`));
  });
});
