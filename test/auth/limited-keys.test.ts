import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { apiKeyPrefix, generateApiKey, generateLimitedApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { encodeCursor } from '../../src/responses/cursor.ts';
import { limitOf, startFaultyService } from '../faults/service.ts';
import { query } from '../support/api.ts';
import { AWKWARD } from '../support/awkward-text.ts';
import { query as runSql } from '../support/database.ts';
import { below, pick, randomFrom } from '../support/random.ts';
import { type Stack, startStack } from '../support/stack.ts';

/*
 * A limited key sees another database: the same requests give the same bytes as with an unlimited key on a masked copy, which this file
 * makes without the service's SQL.
 */

const seed = Math.floor(Math.random() * 2 ** 32);

interface Form {
  readonly id: string;
  readonly survey_name: string;
  readonly shortcode: string;
  readonly created: string;
}

interface Response {
  readonly surveyid: string;
  readonly userid: string;
  readonly question_ref: string;
  readonly timestamp: string;
  readonly pageid: string | null;
  /** JSON text. */
  readonly metadata: string | null;
  readonly [column: string]: unknown;
}

interface Data {
  readonly forms: readonly Form[];
  readonly responses: readonly Response[];
}

const SURVEY = 'S & “é”';
const FORMS = [
  ...[SURVEY, SURVEY, SURVEY, SURVEY, SURVEY].map((name, i) => [name, ['b', 'a', 'a', 'aa', 'c'][i]]),
  ['T', 'a'],
  ['U', 'only'],
] as [string, string][];
const QUESTIONS = ['q1', 'q2', 'phone', 'a.q', 'Å', 'metadata.cluster', '"'];
const METADATA = [
  null,
  'null',
  '[1]',
  '"text"',
  '{}',
  '{"cluster": "1", "pageid": "77", "ad_id": "=1", "seed": 7}',
  '{"cluster": null, "seed_2": "B", "big": 1.10e400}',
  '{"phone": "+254", "cluster": {"a": [1.0]}, "seed": 4294967295}',
];
const TEXTS = ['Ja', 'A', 'b', '12', '-1.5', '', '=1+1', 'né 🎉', ...AWKWARD.slice(0, 6)];

const USERIDS = [...AWKWARD.slice(0, 8), ...Array.from({ length: 40 }, (_, i) => String(9_000_000 + 7 * i))];

const pseudonymOf = (secret: string, userid: string) =>
  `p${createHmac('sha256', Buffer.from(secret, 'hex')).update(userid).digest('hex').slice(0, 32)}`;

/** Danish and Welsh sort these pseudonyms otherwise than by their bytes: `aa` is a letter after `z`. */
const SECRET = secretWith(/^paa/);

function secretWith(pattern: RegExp): string {
  for (let n = 0; ; n++) {
    const secret = String(n).padStart(64, '0');
    if (USERIDS.some((userid) => pattern.test(pseudonymOf(secret, userid)))) return secret;
  }
}

/** Has more responses than a page. With {@link SECRET}, it is the first in the order of pseudonyms. */
const GIANT = USERIDS.toSorted((a, b) => (pseudonymOf(SECRET, a) < pseudonymOf(SECRET, b) ? -1 : 1))[0] as string;

function makeData(rows: number): Data {
  const random = randomFrom(seed);
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString();
  const forms = FORMS.map(([survey_name, shortcode], i) => ({
    id: randomUUID(),
    survey_name,
    shortcode,
    created: day(i % 4), // some are equal
  }));
  const times = Array.from({ length: 60 }, () => day(below(random, 90)));
  const seen = new Set<string>();
  const responses = Array.from({ length: rows }, () => {
    const form = pick(random, forms);
    const question = below(random, QUESTIONS.length);
    return {
      parent_surveyid: random() < 0.5 ? null : pick(random, forms).id,
      parent_shortcode: pick(random, ['', 'b']),
      surveyid: form.id,
      shortcode: form.shortcode,
      flowid: 1_600_000_000_000 + below(random, 3),
      userid: random() < 0.4 ? GIANT : pick(random, USERIDS),
      question_ref: QUESTIONS[question] as string,
      question_idx: question,
      question_text: pick(random, ['Text?', 'Choose\n- A. One\n- B. Two']),
      response: pick(random, TEXTS),
      pageid: pick(random, [null, '', '77']),
      timestamp: pick(random, times),
      metadata: pick(random, METADATA),
      translated_response: pick(random, [null, 'Yes']),
    };
  }).filter(({ surveyid, timestamp, userid, question_ref }) => {
    const key = JSON.stringify([surveyid, timestamp, userid, question_ref]);
    return !seen.has(key) && seen.add(key);
  });
  return { forms, responses };
}

function maskMetadata(text: string | null, { metadata: keys, pageid }: KeyLimits): string | null {
  if (!keys && pageid === undefined) return text;
  if (!text?.startsWith('{')) return null;
  // The members as texts, since JavaScript would change their numbers.
  const members = new Map(Object.entries(MEMBERS[text] as Record<string, string>));
  const left = [...members].filter(([key]) => (keys?.includes(key) ?? true) && !(pageid === false && key === 'pageid'));
  return `{${left.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`;
}

const MEMBERS: Record<string, Record<string, string>> = Object.fromEntries(
  METADATA.filter((text) => text?.startsWith('{')).map((text) => {
    const members = (text as string).matchAll(/"(\w+)": ("[^"]*"|\{[^}]*\}|[^,}]+)/g);
    return [text, Object.fromEntries(Array.from(members, ([, key, value]) => [key, value]))];
  }),
);

/** What the limits leave of the data. */
function mask({ forms, responses }: Data, limits: KeyLimits): Data {
  const { surveys, shortcodes, questions, without_questions: hidden, pageid, secret } = limits;
  const seen = forms.filter(
    ({ survey_name, shortcode }) =>
      (surveys?.includes(survey_name) ?? true) && (shortcodes?.includes(shortcode) ?? true),
  );
  const ids = new Set(seen.map(({ id }) => id));
  return {
    forms: seen,
    responses: responses
      .filter(
        ({ surveyid, question_ref: question }) =>
          ids.has(surveyid) && (questions?.includes(question) ?? true) && !hidden?.includes(question),
      )
      .map((response) =>
        Object.assign({}, response, {
          pageid: pageid === false ? null : response.pageid,
          metadata: maskMetadata(response.metadata, limits),
          userid: secret === undefined ? response.userid : pseudonymOf(secret, response.userid),
        }),
      ),
  };
}

const account = { id: randomUUID(), email: 'owner@example.org' };

/** Replaces all that a database has of the account but its keys. */
async function store(url: string, { forms, responses }: Data): Promise<void> {
  await runSql(url, 'truncate responses, survey_settings, surveys');
  await runSql(
    url,
    `insert into surveys (id, userid, survey_name, shortcode, title, formid, created, metadata)
     select id, $2, survey_name, shortcode, 'Title', 'form', created, '{"wave": 1}' from json_populate_recordset(null::surveys, $1)`,
    [JSON.stringify(forms), account.id],
  );
  await runSql(
    url,
    `insert into survey_settings select id, '{"a": 1}', '2026-05-01Z' from surveys where shortcode <> 'b'`,
  );
  await runSql(
    url,
    `insert into responses (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp, pageid, translated_response, metadata)
     select parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp, pageid, translated_response, (metadata #>> '{}')::jsonb
     from json_populate_recordset(null::responses, $1)`,
    [JSON.stringify(responses)],
  );
}

async function storeKey(url: string, key: string, limits: KeyLimits | null): Promise<void> {
  const insert = `insert into api_keys (userid, name, prefix, hash, limits) values ($1, 'test', $2, $3, $4)`;
  await runSql(url, insert, [account.id, apiKeyPrefix(key), await hashApiKey(key), limits]);
}

/** What a client sees of a response, without the clock and the address. */
async function read({ address }: Stack, key: string, path: string, headers: Record<string, string> = {}) {
  const request = { headers: { Authorization: `Bearer ${key}`, ...headers } };
  const response = await fetch(`${address.origin}/api/v1${path}`, request);
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
  const seen = [...response.headers]
    .filter(([name]) => !['date', 'x-request-id', 'server-timing'].includes(name))
    .map(([name, value]) => [name, value.replace(address.origin, '').replace(/_[\dTZ-]+\./, '_TIME.')]);
  return { path, status: response.status, headers: Object.fromEntries(seen) as Record<string, string>, body };
}

/** At least each limit alone, and all together. */
const LIMITS: KeyLimits[] = [
  { v: 1 },
  { v: 1, surveys: [SURVEY] },
  { v: 1, surveys: ['T', 'none'] },
  { v: 1, shortcodes: ['a', 'aa'] },
  { v: 1, questions: ['q1', 'Å'] },
  { v: 1, questions: [] },
  { v: 1, without_questions: ['phone', '"'] },
  { v: 1, metadata: [] },
  { v: 1, metadata: ['cluster', 'seed', 'pageid', 'big'] },
  { v: 1, pageid: false },
  { v: 1, metadata: ['pageid', 'cluster'], pageid: false },
  { v: 1, secret: SECRET },
  { v: 1, secret: SECRET, questions: ['q2', 'phone'] },
  {
    v: 1,
    surveys: [SURVEY],
    shortcodes: ['a', 'c'],
    questions: ['q1', 'q2', 'a.q'],
    without_questions: ['q2'],
    metadata: ['cluster'],
    pageid: false,
    secret: '00'.repeat(32),
  },
];

const FORMATS = ['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx'];
const SCANS = ['/responses/questions', '/responses/summary', '/responses/digests', '/responses/answers'];
const WIDE = { layout: 'wide', metadata: ['cluster', 'pageid'], arm: ['seed_2', 'seed_3_1'] };

/** Requests of a client who knows everything that is hidden. */
function requests(data: Data, masked: Data): string[] {
  const random = randomFrom(seed);
  const survey = SURVEY;
  const user = pick(random, data.responses).userid;
  const pseudonyms = [
    pick(random, masked.responses.length > 0 ? masked.responses : data.responses),
    pick(random, data.responses),
  ].map(({ userid }) => userid);
  const filters = [
    {},
    { userid: [user, ...pseudonyms] },
    { userid: pseudonymOf(SECRET, user) },
    { question_ref: ['phone', 'q1'] },
    { shortcode: ['a', 'b'] },
    { since: '2026-02-01', until: '2026-03-10' },
    { question_ref: 'none' },
  ];
  const cursors = [...data.responses, ...masked.responses]
    .filter(() => random() < 4 / data.responses.length)
    .flatMap(({ timestamp, userid, question_ref: questionRef, surveyid }) => [
      encodeCursor({ timestamp, userid, questionRef, surveyid }),
      btoa(unescape(encodeURIComponent(`${timestamp},${userid},${questionRef}`))),
    ]);
  return [
    '/surveys',
    ...['/responses', ...SCANS].map((path) => `${path}${query({ survey: '\0', userid: user })}`),
    ...['T', 'U', 'none'].flatMap((name) =>
      ['', ...SCANS, ...FORMATS].map((path) => `${path || '/responses/form-data'}${query({ survey: name })}`),
    ),
    ...['/responses/form-data', ...SCANS].flatMap((path) =>
      filters.map((filter) => `${path}${query({ survey, missing: '404', ...filter })}`),
    ),
    ...FORMATS.flatMap((path) => filters.map((filter) => `${path}${query({ survey, count: true, ...filter })}`)),
    ...filters.flatMap((filter) =>
      (['last', 'first', 'drop'] as const).map(
        (repeats) => `/responses/csv${query({ survey, ...WIDE, ...filter, repeats, timing: true, value: 'label' })}`,
      ),
    ),
    `/responses/csv${query({ survey, metadata: ['pageid', 'phone', 'cluster'], arm: ['seed_2', 'seed_25_2'], safe: true })}`,
    `/responses/csv${query({ survey, omit: ['metadata', 'userid'] })}`,
    `/responses/csv${query({ survey, ...WIDE, require_metadata: 'cluster', require_question: ['q1', 'phone'] })}`,
    `/responses/xlsx${query({ survey, ...WIDE, codebook: true, numbers: true, columns: 'question' })}`,
    `/responses/questions${query({ survey, format: 'csv', columns: 'question' })}`,
    `/responses/summary${query({ survey, repeats: 'drop', require_metadata: ['cluster', 'phone'], require_question: 'phone' })}`,
    `/responses/answers${query({ survey, format: 'csv', value: 'translated_label', repeats: 'first', top: 3 })}`,
    `/responses/answers${query({ survey, column: 'a.phone' })}`,
    `/responses/digests${query({ survey, interval: 'month', shortcode: ['a', 'c'] })}`,
    ...cursors.flatMap((after) => [
      `/responses${query({ survey, after, pageSize: 7, count: true })}`,
      `/responses${query({ survey, after, pageSize: 7, order: 'desc' })}`,
      `/responses/csv${query({ survey, after, count: true, question_ref: ['q1', 'phone', 'q2'] })}`,
    ]),
  ];
}

const { stack: real, proxy } = await startFaultyService({ locale: 'da' });
const copy = await startStack({ locale: 'da' });
afterAll(() => copy.stop());
for (const { address } of [real, copy])
  await runSql(address.databaseUrl, 'insert into users (id, email) values ($1, $2)', [account.id, account.email]);
const unlimited = generateApiKey();
await storeKey(copy.address.databaseUrl, unlimited, null);
const data = makeData(2000);
await store(real.address.databaseUrl, data);

/** An account's requests at a time: of those that scan, others would be refused. */
const AT_A_TIME = 4;

test.each(LIMITS)(`a key sees what its limits leave, and nothing else, seed ${seed}: %j`, async (limits) => {
  const masked = mask(data, limits);
  await store(copy.address.databaseUrl, masked);
  const key = generateLimitedApiKey();
  await storeKey(real.address.databaseUrl, key, limits);
  // Lists of participants come in several windows, as if they were long.
  proxy.inject((exchange) => {
    if (exchange.query.includes('as walked') && limitOf(exchange) > 15) exchange.reply(507, 'response is too large');
  });
  const paths = requests(data, masked);
  const statuses = new Set<number>();
  const compare = async () => {
    for (let path; (path = paths.pop());) {
      const [seen, expected] = await Promise.all([read(real, key, path), read(copy, unlimited, path)]);
      expect(seen).toEqual(expected);
      statuses.add(expected.status);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, compare));
  expect(statuses).toContain(200);
});
