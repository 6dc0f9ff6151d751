import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { anyFilter, pgText } from '../support/arbitraries.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import {
  type TestAccount,
  type TestResponse,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  iso,
  sql,
  withClient,
} from '../support/data.ts';

interface Expected {
  zone?: string;
  where?: string;
  userids?: string[];
  leftOut?: number;
}

type Parameters = Record<string, string | readonly string[] | undefined>;

const summary = (survey: TestSurvey, parameters: Parameters = {}) =>
  fetchApi(`/responses/summary${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key });

/**
 * The summary of a survey: its responses and participants listed by Postgres in a session of the time zone, and counted here.
 *
 * @param userids the participants that are not left out
 */
async function summaryOf(
  survey: TestSurvey,
  { zone = 'UTC', where = 'true', userids, leftOut = 0 }: Expected = {},
): Promise<string> {
  const rows = await withClient(async (client) => {
    await client.query('begin');
    await client.query(`set local timezone = '${zone}'`);
    const result = await client.query<{ day: string; userid: string; iso: string }>(
      `select left(r.timestamp::text, 10) as day, r.userid,
         ${iso('r.timestamp')} as iso
       from responses r join surveys s on s.id = r.surveyid where s.id = any($1::uuid[]) and (${where})
         and ($2::text[] is null or r.userid = any($2))
       order by r.timestamp`,
      [survey.forms.map(({ id }) => id), userids],
    );
    await client.query('rollback');
    return result.rows;
  });
  const countsOf = (some: typeof rows) => ({
    responses: some.length,
    participants: new Set(some.map(({ userid }) => userid)).size,
  });
  const days = Object.entries(Object.groupBy(rows, ({ day }) => day)).map(([day, some = []]) =>
    Object.assign({ day }, countsOf(some)),
  );
  const [first, last] = [rows[0]?.iso ?? null, rows.at(-1)?.iso ?? null];
  return JSON.stringify({ ...countsOf(rows), first, last, days, left_out: leftOut });
}

/** Zones with whole, half and odd hours, with and without daylight-saving time, and one that skipped a day. */
const ZONES = [
  ...['UTC', 'Africa/Nairobi', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'CET', 'EET'],
  ...['Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Apia', 'Pacific/Kiritimati', 'Etc/GMT+12', 'GB-Eire'],
];
/** Around which days begin, years begin, or clocks change, in some of the zones. */
const MOMENTS = [
  ...['2026-03-29T01:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', '2026-10-25T01:00:00Z'],
  ...['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
  ...['2026-04-04T15:00:00Z', '2026-10-03T15:30:00Z', '2011-12-30T10:00:00Z', '2011-12-29T11:00:00Z'],
  ...['2026-01-01T00:00:00Z', '2025-12-31T18:30:00Z', '2025-12-31T10:00:00Z', '2026-06-30T22:00:00Z'],
];
/** Metadata that lack every key: SQL and JSON null, and what is not an object or has null as its value. */
const NO_METADATA = [null, 'null', '[]', '["a"]', '"a"', '1', '{"a": null, "b": null}'];
const anyResponses = fc.uniqueArray(
  fc.record<TestResponse>({
    form: fc.nat(2),
    timestamp: fc
      .tuple(fc.constantFrom(...MOMENTS), fc.constantFrom(-1, 0, 1, 1_800_000_000))
      .map(([moment, microseconds]) => {
        const at = BigInt(Date.parse(moment)) * 1000n + BigInt(microseconds);
        return new Date(Number(at / 1000n)).toISOString().replace('Z', `${String(at % 1000n).padStart(3, '0')}Z`);
      }),
    userid: fc.oneof(pgText, fc.constantFrom('a', 'b', 'B', 'ä', '')),
    question_ref: fc.constantFrom('q1', 'q2'),
    flowid: fc.constantFrom('1', '1', '1', '1', '-9223372036854775808'),
    metadata: fc.constantFrom(...Array<string>(20).fill('{"a": 1, "b": "x"}'), '{"a": 2}', '{}', ...NO_METADATA),
  }),
  {
    minLength: 1,
    maxLength: 60,
    selector: ({ form, timestamp, userid, question_ref }) => JSON.stringify([form, timestamp, userid, question_ref]),
  },
);

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

test('a summary counts responses and participants, in all and by day, in any time zone', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyResponses,
      fc.subarray(ZONES, { minLength: 3, maxLength: 3 }),
      anyFilter,
      async (rows, zones, [filter, where]) => {
        const survey = await createSurvey(account, undefined, 3);
        await addResponses(survey, rows);
        for (const zone of zones) {
          const response = await summary(survey, { timezone: zone, ...filter });
          expect([zone, response.status, response.text]).toEqual([zone, 200, await summaryOf(survey, { zone, where })]);
        }
      },
    ),
    { numRuns: 10 },
  );
});

test('a summary counts the participants that a wide file with the same parameters has, and those that it leaves out', async () => {
  const anyParameters = fc.record(
    {
      repeats: fc.constantFrom('drop', 'drop', 'first', 'last'),
      require_metadata: fc.constantFrom(['a'], ['b', 'a'], ['none']),
    },
    { requiredKeys: [] },
  );
  const leftOutCounts = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyResponses, anyParameters, anyFilter, async (rows, parameters, [filter, where]) => {
      const survey = await createSurvey(account, undefined, 3); // f0, f0, f1
      await addResponses(survey, rows);
      const fetched = async (path: string, extra: Parameters) =>
        (await fetchApi(`${path}${query({ survey: survey.name, ...filter, ...extra })}`, account)).text;
      const useridsOf = async (extra: Parameters) => {
        const file = parseCsv(Buffer.from(await fetched('/responses/csv', { layout: 'wide', ...extra })));
        return new Set(file.map(({ userid }) => userid ?? ''));
      };
      const [all, kept] = [await useridsOf({}), await useridsOf(parameters)];
      const userids = [...kept];
      const leftOut = all.size - kept.size;
      const { text } = await summary(survey, { ...parameters, ...filter });
      expect(text).toBe(await summaryOf(survey, { where, userids, leftOut }));

      const { questions } = JSON.parse(await fetched('/responses/questions', { userid: [...userids, 'nobody'] })) as {
        questions: { responses: number }[];
      };
      const { responses } = JSON.parse(text) as { responses: number };
      expect(questions.reduce((sum, question) => sum + question.responses, 0)).toBe(responses);
      leftOutCounts.add(kept.size === 0 ? 'all' : leftOut === 0 ? 'none' : 'some');
    }),
    { numRuns: 20, seed: 1 },
  );
  expect(leftOutCounts).toEqual(new Set(['all', 'some', 'none']));
});

describe('a summary', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await createSurvey(account, undefined, 3);
    await addResponses(
      survey,
      Array.from({ length: 600 }, (_, i) => ({
        form: i % 3,
        timestamp: new Date(Date.UTC(2026, 5, 29) + i * 600_000).toISOString(),
        userid: `u${(i * 31) % 40}`,
        question_ref: `q${i % 11}`,
      })),
    );
  });

  test('has days in UTC unless another time zone is given', async () => {
    const { text } = await summary(survey);
    expect(text).toBe(await summaryOf(survey));
    expect((await summary(survey, { timezone: 'UTC' })).text).toBe(text);
  });

  test('takes a name that is also an abbreviation as the zone, with its daylight-saving time', async () => {
    const { text } = await summary(survey, {
      timezone: 'CET',
      since: '2026-06-29T22:00:00Z',
      until: '2026-06-30T22:00:00Z',
    });
    expect(JSON.parse(text)).toMatchObject({ responses: 144, days: [{ day: '2026-06-30', responses: 144 }] });
  });

  test('counts the day before the year 1 and the day after 9999 on the days beside them', async () => {
    const outer = await createSurvey(await createAccount());
    const times = ['0001-01-01T00:00:00Z', '0001-01-01T12:00:00Z', '9999-12-31T01:00:00Z', '9999-12-31T23:59:59Z'];
    await addResponses(
      outer,
      times.map((timestamp) => ({ timestamp, userid: 'one' })),
    );
    for (const timezone of ['Pacific/Honolulu', 'UTC', 'Asia/Tokyo']) {
      const { text } = await summary(outer, { timezone });
      const [first, last] = ['0001-01-01', '9999-12-31'].map((day) => ({ day, responses: 2, participants: 1 }));
      const days =
        timezone === 'Pacific/Honolulu'
          ? [first, { ...last, day: '9999-12-30', responses: 1 }, { ...last, responses: 1 }]
          : [first, last];
      expect({ timezone, ...JSON.parse(text) }).toMatchObject({ timezone, responses: 4, days });
    }
  });

  test('has zeros, nulls and no days if nothing matches', async () => {
    for (const parameters of [{ since: '2030-01-01' }, { shortcode: 'none' }, { userid: 'nobody', timezone: 'CET' }]) {
      const { status, text } = await summary(survey, parameters);
      expect([status, text]).toEqual([
        200,
        '{"responses":0,"participants":0,"first":null,"last":null,"days":[],"left_out":0}',
      ]);
    }
  });

  test('has zeros, nulls and no days if everybody is left out', async () => {
    const { status, text } = await summary(survey, { require_metadata: 'cluster' });
    expect([status, text]).toEqual([
      200,
      '{"responses":0,"participants":0,"first":null,"last":null,"days":[],"left_out":40}',
    ]);
  });

  test('leaves out who took a form again, in any version, but not who took another form', async () => {
    const forms = await createSurvey(account, undefined, 3); // f0, f0, f1
    await addResponses(forms, [
      { userid: 'again', form: 0, flowid: '1' },
      { userid: 'again', form: 1, flowid: '2' },
      { userid: 'another', form: 0, flowid: '1' },
      { userid: 'another', form: 2, flowid: '2' },
    ]);
    const { text } = await summary(forms, { repeats: 'drop' });
    expect(JSON.parse(text)).toMatchObject({ responses: 2, participants: 1, left_out: 1 });
  });

  test('refuses what a wide file refuses', async () => {
    const keys = Array.from({ length: 51 }, (_, i) => `key${i}`);
    for (const [parameters, message] of [
      [{ repeats: 'none' }, 'repeats must be last, first, or drop.'],
      [{ require_metadata: keys }, 'require_metadata must be text without NUL characters, given at most 50 times.'],
    ] as const) {
      const { status, text } = await summary(survey, parameters);
      expect([status, text]).toEqual([400, errorBody(message)]);
    }
  });

  test.each([
    ...['', 'utc', 'africa/nairobi', 'Mars/Phobos', 'UTC+3', '<+03>-3', 'EST5EDT4', 'PST', 'CEST', '+03:00', '3'],
    ...['Africa/Nairobi ', 'Africa', '../UTC', `UTC'`, 'UTC\0', 'UTC\n', 'x'.repeat(5000), '%'],
  ])('refuses the time zone %j, whatever the survey', async (zone) => {
    for (const name of [survey.name, 'none']) {
      const response = await summary({ ...survey, name }, { timezone: zone });
      expect([response.status, response.text]).toEqual([
        400,
        errorBody('timezone must be the name of a time zone such as Africa/Nairobi, in its exact case.'),
      ]);
    }
  });

  test('refuses two time zones, and bytes that are not UTF-8', async () => {
    for (const zones of ['timezone=UTC&timezone=UTC', 'timezone=%ED%A0%80', 'timezone=%ff']) {
      const response = await fetchApi(`/responses/summary${query({ survey: survey.name })}&${zones}`, account);
      expect([response.status, response.headers.get('X-Error-Code')]).toEqual([400, 'invalid_parameter']);
    }
  });
});

test('a summary of too many days is refused', async () => {
  const survey = await createSurvey(account);
  await sql(
    `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp)
     select 'p', $1::uuid, 'f0', 1, 'u', 'q', 1, 'q?', 'yes', '1900-01-01Z'::timestamptz + i * interval '1 day'
     from generate_series(1, 40000) i`,
    [survey.forms[0]?.id],
  );
  const { status, text } = await summary(survey);
  expect([status, text]).toEqual([
    400,
    errorBody('This selection has too many days to return at once. Narrow it with since and until.'),
  ]);
  expect((await summary(survey, { until: '1950-01-01' })).text).toBe(
    await summaryOf(survey, { where: `r.timestamp < '1950-01-01Z'` }),
  );
});
