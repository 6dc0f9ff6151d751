import { randomUUID } from 'node:crypto';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { pseudonymOf } from '../chaos/model/limits.ts';
import { query } from '../support/api.ts';
import { type TestAccount, addResponses, createSurvey } from '../support/data.ts';

/* What the holder of a limited key may try, who knows the names and values that are hidden. */

const NAME = 'Attacked';
const HIDDEN_NAME = 'Secret';
const [ID, OTHER_ID, HIDDEN_ID] = ['+254 700', 'Åse', 'only in hidden places'];
const SECRET = '0f'.repeat(32);
const TIME = '2026-03-01T10:00:00.000Z';
const HIDDEN_TIME = '2026-05-05T05:05:05.123Z';

/** The limits of the key. */
export const ATTACKING: KeyLimits = {
  v: 1,
  surveys: [NAME, 'to come'],
  shortcodes: ['f0', 'f1'],
  without_questions: ['phone', 'userid'],
  metadata: ['m', 'seed_2', 'pageid'],
  pageid: false,
  secret: SECRET,
};

const pseudonym = (userid: string) => pseudonymOf(userid, SECRET);
const metadata =
  '{"m": "1", "phone": "+254", "pageid": "77", "seed": 7, "seed_5": "4", "ad_id": "9"}';
const given = { metadata, pageid: '77', timestamp: TIME, response: '1' };

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

/**
 * Stores what is attacked. @returns the requests of each attack, without those that random requests
 * can be
 */
export async function createAttacks(
  owner: TestAccount,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const survey = await createSurvey(owner, NAME, 6); // the last two are f2
  const hidden = await createSurvey(owner, HIDDEN_NAME);
  await addResponses(survey, [
    ...[ID, OTHER_ID].flatMap((userid) =>
      ['q', 'question.userid', 'phone'].map((question) =>
        Object.assign({ userid, question_ref: question }, given),
      ),
    ),
    { ...given, userid: ID, question_ref: 'q', form: 2, metadata: '[1]' },
    // Each would change what is visible.
    { ...given, userid: ID, question_ref: 'userid', response: 'x'.repeat(33_000) },
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

  const [form, hiddenForm] = [survey, hidden].map(({ forms }) => forms[0]?.id ?? '') as [
    string,
    string,
  ];
  const forged = (userid: string, question = 'q', id = form) => ({
    after: tokenOf(TIME, userid, question, id),
  });

  return {
    'a filter by a userid, alone and beside a pseudonym': to(
      'page csv summary digests',
      { userid: ID },
      { userid: [ID, pseudonym(OTHER_ID)] },
    ),
    'the token of an unlimited key': to('page csv', forged(ID), forged(HIDDEN_ID, 'phone')),
    'a pseudonym made with another secret': to('csv', { userid: pseudonymOf(ID, 'f0'.repeat(32)) }),
    'a pseudonym in capitals': to('csv', { userid: pseudonym(ID).toUpperCase() }),
    'a pseudonym that is cut or longer': to(
      'csv',
      ...by('userid', [pseudonym(ID).slice(0, -1), `${pseudonym(ID)}0`]),
    ),
    'the pseudonym of a participant who is hidden': to('csv', {
      userid: pseudonym(HIDDEN_ID),
      count: true,
    }),
    'the pseudonym of a pseudonym': to('csv', { userid: pseudonym(pseudonym(ID)) }),
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
      ...['phon', 'phonf'].map((name) => forged(pseudonym(ID), name)),
    ),
    'a token of a hidden form, or of none': to(
      'ndjson',
      ...[hiddenForm, randomUUID()].map((id) => forged(pseudonym(ID), 'q', id)),
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
}

/**
 * Those that show an unlimited key nothing more: it has no pseudonyms, and errors do not depend on
 * data.
 */
export const HARMLESS = [
  'a pseudonym made with another secret',
  'a pseudonym in capitals',
  'a pseudonym that is cut or longer',
  'the pseudonym of a participant who is hidden',
  'the pseudonym of a pseudonym',
  'a filter that Postgres refuses',
  'names in other scripts and forms',
  'an error text',
];
