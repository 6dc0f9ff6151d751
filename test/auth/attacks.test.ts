import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { Account } from '../chaos/model/account.ts';
import { query } from '../support/api.ts';
import { addResponses, createSurvey } from '../support/data.ts';
import { hasPython } from '../support/needed-programs.ts';
import { useStack } from '../support/stack-address.ts';
import { type Question, ask, startMaskedCopy } from './masked-copy.ts';

/*
 * What the holder of a limited key may try, who knows the names and values that are hidden. Each
 * attack gets what an unlimited key gets on the masked copy, and would show something with an
 * unlimited key.
 */

const NAME = 'Health';
const HIDDEN_NAME = 'Secret';
const [ID, OTHER_ID, HIDDEN_ID] = ['+254 700', 'Åse', 'only in hidden places'];
const SECRET = '0f'.repeat(32);
const TIME = '2026-03-01T10:00:00.000Z';
const HIDDEN_TIME = '2026-05-05T05:05:05.123Z';

const LIMITS: KeyLimits = {
  v: 1,
  surveys: [NAME, 'to come'],
  shortcodes: ['f0', 'f1'],
  without_questions: ['phone', 'userid'],
  metadata: ['m', 'seed_2', 'pageid'],
  pageid: false,
  secret: SECRET,
};

const pseudonymOf = (userid: string, secret = SECRET) =>
  `p${createHmac('sha256', Buffer.from(secret, 'hex')).update(userid).digest('hex').slice(0, 32)}`;

const account = new Account(randomUUID());
const world = hasPython ? await startMaskedCopy(account, {}) : undefined;
afterAll(async () => world?.[Symbol.asyncDispose]());

const owner = { id: account.id, email: account.email, key: '' };
const metadata =
  '{"m": "1", "phone": "+254", "pageid": "77", "seed": 7, "seed_5": "4", "ad_id": "9"}';
const given = { metadata, pageid: '77', timestamp: TIME, response: '1' };
let [FORM, HIDDEN_FORM] = ['', ''];
if (world) {
  useStack(world.real.address);
  const survey = await createSurvey(owner, NAME, 6); // the last two are f2
  const hidden = await createSurvey(owner, HIDDEN_NAME);
  [FORM, HIDDEN_FORM] = [survey, hidden].map(({ forms }) => forms[0]?.id ?? '') as [string, string];
  await addResponses(survey, [
    ...[ID, OTHER_ID].flatMap((userid) =>
      ['q', 'question.userid', 'phone'].map((question) =>
        Object.assign({ userid, question_ref: question }, given),
      ),
    ),
    { ...given, userid: ID, question_ref: 'q', form: 2, metadata: '[1]' },
    // Each would change what is visible.
    { ...given, userid: ID, question_ref: 'userid', response: 'x'.repeat(40_000) },
    { ...given, userid: ID, question_ref: 'q', form: 4, response: 'no number', flowid: '5' },
    { ...given, userid: ID, question_ref: 'q', form: 4, flowid: '6', timestamp: HIDDEN_TIME },
    { ...given, userid: HIDDEN_ID, question_ref: 'phone' },
    {
      ...given,
      userid: HIDDEN_ID,
      question_ref: 'q',
      form: 5,
      timestamp: HIDDEN_TIME,
      metadata: null,
    },
  ]);
  await addResponses(hidden, [{ ...given, userid: ID, question_ref: 'q' }]);
  await world.save();
}

const tokenOf = (...position: string[]) =>
  Buffer.from(JSON.stringify([1, ...position])).toString('base64url');
const olderTokenOf = (userid: string) => Buffer.from(`${TIME},${userid},q`).toString('base64');
type Parameters = Readonly<Record<string, string | number | boolean | readonly string[]>>;
/** A request to each endpoint with each of the parameters. `page` is `/responses`. */
const to = (endpoints: string, ...parameters: Parameters[]): string[] =>
  endpoints.split(' ').flatMap((name) => {
    const path = name === 'page' ? '/responses' : `/responses/${name}`;
    return parameters.map((some) => path + query({ survey: NAME, ...some }));
  });
const by = (name: string, values: readonly string[], others: Parameters = {}): Parameters[] =>
  values.map((value) => ({ ...others, [name]: value }));
const forged = (userid: string, question = 'q', form = FORM) => ({
  after: tokenOf(TIME, userid, question, form),
});

/** The requests of each attack. masked-copy.test.ts makes those that random requests can be. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'a filter by a userid, alone and beside a pseudonym': to(
    'page csv summary digests',
    { userid: ID },
    { userid: [ID, pseudonymOf(OTHER_ID)] },
  ),
  'the token of an unlimited key': to('page csv', forged(ID), forged(HIDDEN_ID, 'phone')),
  'a pseudonym made with another secret': to('csv', { userid: pseudonymOf(ID, 'f0'.repeat(32)) }),
  'a pseudonym in capitals': to('csv', { userid: pseudonymOf(ID).toUpperCase() }),
  'a pseudonym that is cut or longer': to(
    'csv',
    ...by('userid', [pseudonymOf(ID).slice(0, -1), `${pseudonymOf(ID)}0`]),
  ),
  'the pseudonym of a participant who is hidden': to('csv', {
    userid: pseudonymOf(HIDDEN_ID),
    count: true,
  }),
  'the pseudonym of a pseudonym': to('csv', { userid: pseudonymOf(pseudonymOf(ID)) }),
  'a filter that Postgres refuses': to('page csv', { userid: [ID, '\0'] }, { userid: '\0' }),
  'names in other scripts and forms': to(
    'page',
    ...by('survey', ['Ｓecret', 'SECRET', 'Secret ', 'S\u0435cret', 'Secret\0', 'to come'], {
      missing: '404',
    }),
  ),
  'the time of a hidden response': to(
    'page digests',
    { since: HIDDEN_TIME },
    { until: HIDDEN_TIME },
  ),
  'an older token': to(
    'page',
    ...by('after', [ID, OTHER_ID, '', '\u{10ffff}'].map(olderTokenOf), { count: true }),
  ),
  'a token between two userids': to(
    'page',
    ...['*', 'P', 'p', 'p7', 'pa', 'q', 'Å'].map((id) => forged(id, '')),
  ),
  'a token between two questions': to(
    'page',
    ...['phon', 'phonf'].map((name) => forged(pseudonymOf(ID), name)),
  ),
  'a token of a hidden form, or of none': to(
    'ndjson',
    ...[HIDDEN_FORM, randomUUID()].map((form) => forged(pseudonymOf(ID), 'q', form)),
  ),
  'hidden keys that must not be null': to(
    'summary',
    ...by('require_metadata', ['phone', 'pageid', 'seed']),
  ),
  'the column of a hidden question': to('answers', ...by('column', ['f0.phone', 'f2.q', 'f0.q'])),
  'names that would collide with hidden ones': to('questions', { columns: 'question' }),
  'numbers, of which a hidden response is none': to('xlsx', {
    layout: 'wide',
    numbers: true,
    columns: 'question',
  }),
  'a workbook for which a hidden response is too long': to('xlsx', {}, { codebook: true }),
  'an error text': to('page csv summary', { pageSize: '0', timezone: 'Mars', phone: '1' }),
};
/**
 * Those that show an unlimited key nothing more: it has no pseudonyms, and errors do not depend on
 * data.
 */
const HARMLESS = [
  'a pseudonym made with another secret',
  'a pseudonym in capitals',
  'a pseudonym that is cut or longer',
  'the pseudonym of a participant who is hidden',
  'the pseudonym of a pseudonym',
  'a filter that Postgres refuses',
  'names in other scripts and forms',
  'an error text',
];

test.skipIf(!hasPython)(
  'attacks with a limited key get what an unlimited key gets on the masked copy',
  async () => {
    if (!world) return;
    const { real, copy, unlimited } = world;
    const key = await world.mask(LIMITS, 1);
    const harmless: string[] = [];
    for (const [name, paths] of Object.entries(ATTACKS)) {
      let isHarmless = true;
      for (const path of paths) {
        const question: Question = [path, { headers: { Prefer: 'handling=strict' } }];
        const expected = await ask(copy, unlimited, question);
        expect.soft([name, path, await ask(real, key, question)]).toEqual([name, path, expected]);
        isHarmless &&=
          JSON.stringify(await ask(real, unlimited, question)) === JSON.stringify(expected);
      }
      if (isHarmless) harmless.push(name);
    }
    expect(harmless).toEqual(HARMLESS);
  },
);
