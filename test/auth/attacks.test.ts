import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { generateLimitedApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { rotateKey } from '../../tools/keys/rotate.ts';
import { Account } from '../chaos/model/account.ts';
import { query } from '../support/api.ts';
import { addResponses, createSurvey, sql } from '../support/data.ts';
import { hasPython } from '../support/needed-programs.ts';
import { stackAddress, useStack } from '../support/stack-address.ts';
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
    return (parameters.length > 0 ? parameters : [{}]).map(
      (some) => path + query({ survey: NAME, ...some }),
    );
  });
const by = (name: string, values: readonly string[], others: Parameters = {}): Parameters[] =>
  values.map((value) => ({ ...others, [name]: value }));
const forged = (userid: string, question = 'q', form = FORM) => ({
  after: tokenOf(TIME, userid, question, form),
});
const wide = { layout: 'wide' };
const strict = { headers: { Prefer: 'handling=strict' } };

/**
 * The requests of each attack, and how they are sent; `$tag` stands for the tag of an unlimited
 * key's response.
 */
const ATTACKS: Record<string, [requests: string[], asking?: Question[1]]> = {
  'a filter by a userid': [to('page csv summary digests', { userid: ID })],
  'a filter by a userid and a pseudonym': [to('page', { userid: [ID, pseudonymOf(OTHER_ID)] })],
  'a pseudonym made with another secret': [to('csv', { userid: pseudonymOf(ID, 'f0'.repeat(32)) })],
  'a pseudonym in capitals': [to('page csv', { userid: pseudonymOf(ID).toUpperCase() })],
  'a pseudonym that is cut or longer': [
    to('csv', ...by('userid', [pseudonymOf(ID).slice(0, -1), `${pseudonymOf(ID)}0`])),
  ],
  'the pseudonym of a participant who is hidden': [
    to('csv', { userid: pseudonymOf(HIDDEN_ID), count: true }),
  ],
  'the pseudonym of a pseudonym': [to('csv', { userid: pseudonymOf(pseudonymOf(ID)) })],
  'a filter that Postgres refuses': [to('page csv', { userid: [ID, '\0'] }, { userid: '\0' })],
  'a hidden question': [to('page csv questions summary', { question_ref: 'phone' })],
  'a hidden question beside another': [to('page csv', { question_ref: ['phone', 'q'] })],
  'a hidden form': [to('page csv digests answers', { shortcode: 'f2' })],
  'a hidden survey': [to('page csv form-data xlsx', { survey: HIDDEN_NAME })],
  'a hidden survey that may be missing': [
    to('page form-data questions', { survey: HIDDEN_NAME, missing: '404' }),
  ],
  'names in other scripts and forms': [
    to(
      'page',
      ...by('survey', ['Ｓecret', 'SECRET', 'Secret ', 'S\u0435cret', 'Secret\0', 'to come'], {
        missing: '404',
      }),
    ),
  ],
  'the time of a hidden response': [
    to('page digests', { since: HIDDEN_TIME }, { until: HIDDEN_TIME }),
  ],
  'the token of an unlimited key': [to('page csv', forged(ID), forged(HIDDEN_ID, 'phone'))],
  'that token in the other direction': [
    to('page', { ...forged(OTHER_ID), order: 'desc', count: true }),
  ],
  'an older token': [
    to('page', ...by('after', [ID, OTHER_ID, '', '\u{10ffff}'].map(olderTokenOf), { count: true })),
  ],
  'a token between two userids': [
    to('page', ...['*', 'P', 'p', 'p7', 'pa', 'q', 'Å'].map((id) => forged(id, ''))),
  ],
  'a token between two questions': [
    to('page', ...['phon', 'phonf'].map((name) => forged(pseudonymOf(ID), name))),
  ],
  'a token of a hidden form, or of none': [
    to('ndjson', ...[HIDDEN_FORM, randomUUID()].map((form) => forged(pseudonymOf(ID), 'q', form))),
  ],
  'hidden keys of the metadata': [
    to('csv', ...by('layout', ['long', 'wide'], { metadata: ['phone', 'pageid', 'ad_id'] })),
  ],
  'hidden keys that must not be null': [
    to('summary', ...by('require_metadata', ['phone', 'pageid', 'seed'])),
  ],
  'a hidden question that must be answered': [
    to('summary', ...by('require_question', ['phone', 'userid'])),
  ],
  'a treatment arm from a hidden seed': [
    to('csv xlsx', ...by('layout', ['long', 'wide'], { arm: ['seed_2', 'seed_5'] })),
  ],
  'the last response': [to('page summary', { order: 'desc', pageSize: 1 })],
  'the number of responses': [
    to('page csv ndjson xlsx', { count: true }, { userid: ID, count: true }),
  ],
  'who is left out': [
    to('summary answers csv', { ...wide, repeats: 'drop', require_question: 'question.userid' }),
  ],
  'the column of a hidden question': [to('answers', ...by('column', ['f0.phone', 'f2.q', 'f0.q']))],
  'names that would collide with hidden ones': [to('questions', { columns: 'question' })],
  'numbers, of which a hidden response is none': [
    to('xlsx', { ...wide, numbers: true, columns: 'question' }),
  ],
  'a workbook for which a hidden response is too long': [to('xlsx', {}, { codebook: true })],
  'the form versions': [['/surveys', ...to('form-data')]],
  'what participants answered': [to('answers', { top: 1 }, { columns: 'question', format: 'csv' })],
  'an error text': [
    to('page csv summary', { pageSize: '0', timezone: 'Mars', phone: '1' }),
    strict,
  ],
  'what HEAD returns': [to('page csv xlsx', { count: true }), { method: 'HEAD' }],
  'a tag of an unlimited key': [
    ['/surveys', ...to('page digests')],
    { headers: { 'If-None-Match': '$tag' } },
  ],
  'any tag': [
    ['/surveys', ...to('digests', { question_ref: 'phone' })],
    { headers: { 'If-None-Match': '*' } },
  ],
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
    for (const [name, [paths, asking = {}]] of Object.entries(ATTACKS)) {
      let isHarmless = true;
      for (const path of paths) {
        const { etag = '' } = (await ask(real, unlimited, [path, {}])).headers;
        const headers = Object.entries(asking.headers ?? {}).map(([header, value]) => [
          header,
          value.replace('$tag', etag),
        ]);
        const question: Question = [
          path,
          { ...asking, headers: Object.fromEntries(headers) as Record<string, string> },
        ];
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

const entry = {
  v: 3,
  keyId: randomUUID(),
  accountId: account.id,
  email: account.email,
  expires: null,
  limits: LIMITS,
};
/** What the cache has of a key that the service has not seen, and whether the key works. */
const ENTRIES: Record<string, [object, boolean]> = {
  'an older entry, without limits': [{ ...entry, v: 2, limits: undefined }, true],
  'an entry with a limit that it does not know': [{ ...entry, limits: { v: 1, days: [] } }, true],
  'an entry without its limits': [{ ...entry, limits: null }, false],
};
/** What changes while a key is used. @returns the key that works afterwards */
const CHANGES: Record<string, (hash: string) => Promise<string | void>> = {
  'its limits are removed': async (hash) => {
    await sql('update api_keys set limits = null where hash = $1', [hash]);
  },
  'it gets a limit that the service does not know': async (hash) => {
    await sql(`update api_keys set limits = limits || '{"days": 7}' where hash = $1`, [hash]);
  },
  'it is revoked': async (hash) => {
    await sql('update api_keys set revoked = now() where hash = $1', [hash]);
  },
  'it is rotated': async (hash) => {
    const [row] = await sql<{ id: string }>('select id from api_keys where hash = $1', [hash]);
    const { rotated } = await rotateKey(stackAddress().databaseUrl, row?.id ?? '', { graceMs: 0 });
    return rotated.key;
  },
};

test.skipIf(!hasPython)(
  'a limited key never shows more than the masked copy, whatever happens to it',
  async () => {
    if (!world) return;
    const { real, copy, unlimited } = world;
    const { keys } = real.worker;
    await world.mask(LIMITS, 1);
    const question: Question = [`/responses/csv${query({ survey: NAME })}`, {}];
    const expected = await ask(copy, unlimited, question);
    const refused = await ask(copy, generateLimitedApiKey(), question);
    expect([expected.status, refused.status]).toEqual([200, 401]);
    for (const [name, [value, works]] of Object.entries(ENTRIES)) {
      const key = await world.issue(LIMITS);
      await keys.put(await hashApiKey(key), JSON.stringify({ ...value, checked: Date.now() }));
      expect
        .soft([name, await ask(real, key, question)])
        .toEqual([name, works ? expected : refused]);
    }
    for (const [name, change] of Object.entries(CHANGES)) {
      const key = await world.issue(LIMITS);
      const hash = await hashApiKey(key);
      await ask(real, key, question);
      while ((await keys.get(hash)) === null) await sleep(10);
      const running = Array.from({ length: 4 }, () => ask(real, key, question));
      const newKey = (await change(hash)) ?? key;
      await keys.delete(hash);
      for (const seen of await Promise.all(running))
        expect.soft([name, seen]).toEqual([name, seen.status === 200 ? expected : refused]);
      expect.soft([name, await ask(real, key, question)]).toEqual([name, refused]);
      expect
        .soft([name, await ask(real, newKey, question)])
        .toEqual([name, newKey === key ? refused : expected]);
    }
  },
);
