import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Digests, digestsQuery } from '../../src/db/digests.ts';
import { render } from '../../src/db/sql.ts';
import { withConnection } from '../../tools/connection.ts';
import { migrate } from '../../tools/migrations.ts';
import { pgText } from '../support/arbitraries.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import {
  type TestAccount,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  sql,
  withClient,
} from '../support/data.ts';
import { stackAddress } from '../support/stack-address.ts';
import { type Interval, digestsOf } from '../support/digests.ts';

type Parameters = Record<string, string | readonly string[] | undefined>;

const fetchFrom = (survey: TestSurvey, path: string, parameters: Parameters = {}, headers = {}) =>
  fetchApi(`/responses${path}${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key, headers });

const digests = (survey: TestSurvey, parameters: Parameters = {}, headers = {}) =>
  fetchFrom(survey, '/digests', parameters, headers);

/** What an edit sets a column to: SQL, or a value. Numbers and times move by one unit, too. */
const EDITS: readonly (readonly [set: string, values: fc.Arbitrary<unknown>])[] = [
  ['parent_surveyid = $1', fc.option(fc.uuid(), { nil: null })],
  ['surveyid = $1', fc.nat(3)], // a form version
  ['flowid = $1', fc.constantFrom('0', '-1', '1600000000001', '9223372036854775807', '-9223372036854775808')],
  ['flowid = flowid / 2 + $1', fc.constantFrom(1, -1)],
  ['question_idx = $1', fc.constantFrom(0, -1, 1, 10, 2 ** 31 - 1, -(2 ** 31))],
  ['timestamp = timestamp + $1::interval', fc.constantFrom('1us', '-1us', '1ms', '999us', '1h', '-1d', '31d', '400y')],
  [
    'metadata = $1',
    fc.oneof(
      fc.constantFrom(null, 'null', '{}', '[]', '""', '0', '1.10', '1.1', '-0', '1e300', '{"a":1.0}', '{"a": 1.00}'),
      fc.constantFrom('{"ad_id":"1"}', '{"ad_id":1}', '{"ad_id":null}', '{"b":1,"a":2}', '{"a":12345678901234567890}'),
      pgText.map((text) => JSON.stringify({ [text]: text })),
    ),
  ],
  ...['pageid', 'translated_response'].map(
    (column) => [`${column} = $1`, fc.oneof(pgText, fc.constantFrom(null, '', '~', '0:', '1:a'))] as const,
  ),
  ...['parent_shortcode', 'userid', 'question_ref', 'question_text', 'response'].map(
    (column) =>
      [
        `${column} = $1`,
        fc.oneof(
          pgText,
          fc.constantFrom('', ' ', '~', '0', '1', '01', '1:a', 'a'.repeat(5000), 'é', 'e\u0301', 'A', 'a'),
        ),
      ] as const,
  ),
  // A character moves from one field to the next.
  [`response = question_text || left(response, $1), question_text = substr(response, 1 + $1)`, fc.nat(3)],
  [`userid = userid || left(question_ref, $1), question_ref = substr(question_ref, 1 + $1)`, fc.nat(2)],
  // Neither is in any file.
  ['seed = $1', fc.nat(9)],
  ['shortcode = $1', fc.constantFrom('other', 'f0')],
];

/** One change of a survey: of its nth row, of a copy of it, or of a form version. */
const anyEdit = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.nat(EDITS.length - 1).chain((which) => {
      const [set, values] = EDITS[which] as (typeof EDITS)[number];
      return fc.record({ kind: fc.constant('edit'), row: fc.nat(), set: fc.constant(set), value: values });
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('add', 'delete'), row: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('form'),
      row: fc.nat(3),
      set: fc.constantFrom(
        'shortcode = $1',
        `metadata = to_jsonb($1::text)`,
        "created = created + $1::int * interval '1us'",
      ),
      value: fc.constantFrom('1', '2', '-1'),
    }),
  },
);
type Edit = typeof anyEdit extends fc.Arbitrary<infer T> ? T : never;

/** Makes a change, unless the database refuses it: a key that another row has, or a time out of range. */
async function change({ forms }: TestSurvey, { kind, row, ...edit }: Edit): Promise<void> {
  const { set = '', value } = edit as { set?: string; value?: unknown };
  const ids = forms.map(({ id }) => id);
  const nth = `surveyid = any($2) and ctid = (
    select ctid from responses where surveyid = any($2)
    order by surveyid, timestamp, userid collate "C", question_ref collate "C"
    offset $3::int % (select greatest(count(*), 1)::int from responses where surveyid = any($2)) limit 1)`;
  const statements: Record<string, [string, unknown[]]> = {
    edit: [
      `update responses set ${set} where ${nth}`,
      [set.startsWith('surveyid') ? ids[value as number] : value, ids, row],
    ],
    add: [
      `insert into responses select (r).* from (
         select jsonb_populate_record(responses, jsonb_build_object('userid', $1::text)) r from responses where ${nth}) added`,
      [`late ${row}`, ids, row],
    ],
    delete: [`delete from responses where $1::text is not null and ${nth}`, ['', ids, row]],
    form: [`update surveys set ${set} where id = $2`, [value, ids[row]]],
  };
  const [text, params] = statements[kind] as [string, unknown[]];
  await sql(text, params).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || !['23505', '23514', '22008', '22003'].includes(error.code ?? ''))
      throw error;
  });
}

/** The files of a survey, and its digests. */
async function read(survey: TestSurvey, interval: Interval) {
  const [csv, forms, body] = await Promise.all([
    fetchFrom(survey, '/csv'),
    fetchFrom(survey, '/form-data'),
    digests(survey, { interval }),
  ]);
  expect([csv.status, forms.status, body.status]).toEqual([200, 200, 200]);
  return { csv: csv.bytes, forms: forms.bytes, text: body.text };
}

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

/** A survey of four form versions whose responses are hours, days and months apart. */
async function createSpread(rows = 60): Promise<TestSurvey> {
  const survey = await createSurvey(account, undefined, 4);
  await addResponses(
    survey,
    Array.from({ length: rows }, (_, i) => ({
      form: i % 4,
      timestamp: new Date(Date.UTC(2026, 0, 1) + i * 41 * 3_600_000).toISOString(),
      userid: ['a', 'b', 'B', 'ä'][i % 4] ?? '',
      question_ref: `q${i % 3}`,
      metadata: i % 5 === 0 ? null : `{"ad_id": "${i}"}`,
    })),
  );
  return survey;
}

test('digests are those of the files, after 400 edits', async () => {
  const survey = await createSpread();
  for (let step = 0; step < 40; step++) {
    const interval = (['day', 'hour', 'month'] as const)[step % 3] ?? 'day';
    const edits = fc.sample(anyEdit, 10);
    for (const edit of edits) await change(survey, edit);
    const { csv, forms, text } = await read(survey, interval);
    expect([edits, text]).toEqual([edits, JSON.stringify(digestsOf(csv, forms, interval))]);
  }
}, 300_000);

test('digests are the same in a database that was restored with another collation, time zone and date style', async () => {
  const survey = await createSpread();
  for (const edit of fc.sample(anyEdit, 100)) await change(survey, edit);
  const { text, params } = render(digestsQuery(account.id, survey.name, {}, 'day').text);
  const expected = await withClient(async (client) => (await client.query(text, [...params])).rows);
  const name = `restored_${randomUUID().replaceAll('-', '')}`;
  await sql(`create database ${name} template template0 locale_provider icu icu_locale 'tr' locale 'C'`);
  try {
    for (const setting of [`timezone = 'Asia/Kathmandu'`, `datestyle = 'SQL, DMY'`, `extra_float_digits = -15`])
      await sql(`alter database ${name} set ${setting}`);
    const url = new URL(`/${name}`, stackAddress().databaseUrl).href;
    await migrate(url);
    await withConnection(url, async (restored) => {
      const ids = survey.forms.map(({ id }) => `'${id}'`).join();
      for (const [table, where] of [
        ['users', `id = '${account.id}'`],
        ['surveys', `id in (${ids})`],
        ['responses', `surveyid in (${ids})`],
      ] as const) {
        await withClient((client) =>
          pipeline(
            client.query(copyTo(`copy (select * from ${table} where ${where}) to stdout`)),
            restored.query(copyFrom(`copy ${table} from stdin`)),
          ),
        );
      }
      expect((await restored.query(text, [...params])).rows).toEqual(expected);
    });
  } finally {
    await sql(`drop database ${name} with (force)`);
  }
});

describe('/responses/digests', () => {
  test('has a tag that changes with a digest or the form data', async () => {
    const survey = await createSpread(4);
    const tagOf = async () => (await digests(survey)).headers.get('ETag') ?? '';
    const first = await tagOf();
    await change(survey, { kind: 'edit', row: 2, set: 'seed = $1', value: 7 }); // it is in no file
    const unchanged = await digests(survey, {}, { 'If-None-Match': first, 'Accept-Encoding': 'GZIP' });
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);
    await change(survey, { kind: 'edit', row: 2, set: 'pageid = $1', value: '' });
    const second = await tagOf();
    await change(survey, { kind: 'form', row: 2, set: 'metadata = to_jsonb($1::text)', value: '2' });
    expect(new Set([first, second, await tagOf()]).size).toBe(3);
  });

  test('has up to 20,000 intervals', async () => {
    const survey = await createSurvey(account);
    const add = (from: number, to: number) =>
      sql(
        `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
           question_text, response, timestamp)
         select '', $1, '', 1, 'u', 'q', 1, '', '', timestamptz '2020-01-01Z' + i * interval '1 hour'
         from generate_series($2::int, $3) i`,
        [survey.forms[0]?.id, from, to],
      );
    await add(1, 20_000);
    const most = await digests(survey, { interval: 'hour' });
    expect([most.status, (JSON.parse(most.text) as Digests).digests.length]).toEqual([200, 20_000]);
    await add(20_001, 20_001);
    const refused = await digests(survey, { interval: 'hour' });
    expect([refused.status, refused.headers.get('X-Error-Code'), refused.text]).toEqual([
      400,
      'export_too_large',
      errorBody(
        'This selection has too many intervals to return at once. Narrow it with since and until, or use a longer interval.',
      ),
    ]);
    expect((await digests(survey)).status).toBe(200);
  });
});
