import { expect, test } from 'vitest';
import { hashApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import type { IssuedKey } from '../../tools/keys/issue.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { writePseudonyms } from '../../tools/keys/pseudonyms.ts';
import { query } from '../support/database.ts';
import { startKeysCommand, UNKNOWN_ID } from '../support/keys.ts';
import { printed, refusal } from '../support/expected.ts';

const SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
const HEX = /[0-9a-f]{33}/; // longer than a pseudonym or an id

const keys = await startKeysCommand();
await query(keys.url, `insert into users (email) values ('other@example.org')`);
// Health has the forms start (2 questions, 4 responses) and end (1, 1), Food has end (1, 2), and
// New has start without responses.
await query(
  keys.url,
  `insert into surveys (userid, survey_name, shortcode, title, formid)
   select id, name, form, '', '' from users join (values
     ('you', 'Health', 'start'), ('you', 'Health', 'end'), ('you', 'Food', 'end'), ('you', 'New', 'start'), ('other', 'Foreign', 'x')
   ) survey (owner, name, form) on email = owner || '@example.org'`,
);
const INSERT_RESPONSES =
  'insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx, question_text, response, timestamp)';
await query(
  keys.url,
  `${INSERT_RESPONSES} select '', id, form, 1, participant, question, 1, '', '', '2026-03-01Z'
   from surveys join (values
     ('Health', 'start', 'age', '+254 1'), ('Health', 'start', 'age', 'a "b",' || chr(10)), ('Health', 'start', 'name', '+254 1'),
     ('Health', 'start', 'name', 'é'), ('Health', 'end', 'age', '+254 1'), ('Food', 'end', 'meal', '2'), ('Food', 'end', 'meal', ''),
     ('Foreign', 'x', 'secret', '3')
   ) response (survey, form, question, participant) on survey_name = survey and surveys.shortcode = form`,
);

const { update } = keys;
const issue = (options: string) => keys.run(`issue --email you@example.org ${options}`);
const issued = async (options: string) =>
  JSON.parse((await issue(`${options} --json`)).stdout) as IssuedKey;

async function limitsOf(key: string): Promise<KeyLimits | null | undefined> {
  const select = 'select limits from api_keys where hash = $1';
  return (await query<{ limits: KeyLimits | null }>(keys.url, select, [await hashApiKey(key)]))[0]
    ?.limits;
}

test('issue prints a limited key alone on stdout, and before it what it sees; its secret is stored and never printed', async () => {
  const names = '--survey Health --survey New --survey Health --form start --question age';
  const rest =
    '--without-question name --metadata cluster --metadata wave --no-pageid --pseudonyms';
  const outcome = await issue(`${names} ${rest}`);
  expect(outcome).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^sresl_\w{49}\n$/),
    stderr:
      'This key sees 2 of 3 surveys, 1 of 4 questions, 2 of 7 responses, of the metadata only "cluster", "wave", no "pageid" (the column and the metadata key), ' +
      "and pseudonyms in place of the participants' ids.\n",
  });
  expect(await limitsOf(outcome.stdout.trim())).toEqual({
    v: 1,
    surveys: ['Health', 'New'],
    shortcodes: ['start'],
    questions: ['age'],
    without_questions: ['name'],
    metadata: ['cluster', 'wave'],
    pageid: false,
    secret: expect.stringMatching(/^[0-9a-f]{64}$/),
  });

  const json = await issue('--no-metadata --pseudonyms --json');
  expect(json.stdout).not.toMatch(HEX);
  expect(json.stderr).toMatch(
    /^This key sees 3 of 3 surveys, 4 of 4 questions, 7 of 7 responses, no metadata, page ids, and p.*\n$/,
  );
  const { key, prefix, limits } = JSON.parse(json.stdout) as IssuedKey;
  expect(prefix).toBe(key.slice(0, 10));
  expect(limits).toEqual({
    v: 1,
    metadata: [],
    pseudonyms: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
});

test('issue --no-pageid warns of other metadata keys that the key sees and that hold a page id, at any depth', async () => {
  const metadata = {
    pageid: '77001',
    page: 77001,
    from: { pages: [{ id: '77001' }] },
    by_page: { '77001': true },
    url: 'https://example.org/77001/posts',
    longer: '770012',
    none: null,
  };
  await query(
    keys.url,
    `update responses set metadata = $1, pageid = '77001' where question_ref = 'name'`,
    [metadata],
  );
  const warning = (names: string) =>
    `Warning: metadata keys other than "pageid" hold a page id, which this key sees: ${names}. See --metadata and --no-metadata.\n`;

  const { stderr } = await issue('--no-pageid');
  expect(stderr).toContain(warning('"by_page", "from", "page", "url"'));
  expect((await issue('--no-pageid --metadata page --metadata none')).stderr).toContain(
    warning('"page"'),
  );
  for (const options of ['--no-metadata', '--without-question name', '--metadata none'])
    expect((await issue(`--no-pageid ${options}`)).stderr).not.toContain('Warning');
});

test.each([
  [
    '--survey',
    'Foreign',
    'the account has no survey "Foreign": it has "Food", "Health", "New". If it is to come, add --force.',
  ],
  ['--form', 'x', 'the account has no form "x": it has "end", "start".'],
  [
    '--without-question',
    'nmae',
    'the account has no question "nmae": it has "age", "meal", "name".',
  ],
])(
  'issue refuses a %s that the account does not have, and takes it with --force',
  async (option, name, message) => {
    const limit = `${option} ${name}`;
    expect(await issue(`${limit} --survey Health`)).toEqual(refusal(`${option}: ${message}`));
    const { key } = await issued(`${limit} --force`);
    expect(Object.values((await limitsOf(key)) ?? {})).toContainEqual([name]);
  },
);

test.each([
  ['--metadata a --no-metadata', "'--no-metadata' cannot be used with option '--metadata <key>'"],
  [
    `--pseudonyms --pseudonyms-of ${UNKNOWN_ID}`,
    "'--pseudonyms-of <id>' cannot be used with option '--pseudonyms'",
  ],
  ['--no-pageid --metadata pageid', '--no-pageid: takes "pageid" out of the metadata'],
  [
    '--question age --without-question age',
    '--without-question: "age" cannot be a --question as well',
  ],
  ['--survey ""', '--survey: is empty'],
  [`--pseudonyms-of ${UNKNOWN_ID}`, `--pseudonyms-of: the account has no key ${UNKNOWN_ID}`],
])('issue refuses %s', async (options, message) => {
  expect(await issue(options)).toEqual(refusal(message));
});

test('issue warns of a key that sees nothing, and of pseudonyms beside all metadata', async () => {
  const nothing = await issue('--survey Food --form start');
  expect(nothing.status).toBe(0);
  expect(nothing.stderr).toMatch(
    /^This key sees 0 of 3 surveys, 0 of 4 questions, .*\nWarning: this key sees no responses\.\n$/,
  );
  const { id } = await issued('--no-metadata --pseudonyms');
  for (const options of ['--pseudonyms', `--pseudonyms-of ${id}`])
    expect((await issue(options)).stderr).toMatch(
      /\nWarning: metadata and free text can hold names and phone numbers: .*\n$/,
    );
});

test('--pseudonyms-of takes the secret of another key of the account, even of a revoked or rotated one', async () => {
  const { id, key } = await issued('--no-metadata --pseudonyms');
  const secret = (await limitsOf(key))?.secret;
  await keys.run(`rotate ${id}`);
  await update(id, 'revoked = now()');
  const shared = await issued(`--survey Food --no-metadata --pseudonyms-of ${id}`);
  expect(await limitsOf(shared.key)).toEqual({ v: 1, surveys: ['Food'], metadata: [], secret });

  await update(id, `userid = (select id from users where email = 'other@example.org')`);
  expect(await issue(`--pseudonyms-of ${id}`)).toEqual(refusal(`the account has no key ${id}`));
  const whole = await issued('--no-metadata');
  expect(await issue(`--pseudonyms-of ${whole.id}`)).toEqual(
    refusal(`--pseudonyms-of: key ${whole.id} has no pseudonyms`),
  );
});

test('list shows limits, without the secret, and those that the service refuses', async () => {
  const whole = await keys.issue();
  const limited = await issued(
    '--survey Food --survey New --without-question meal --no-metadata --pseudonyms',
  );
  const newer = await issued('--no-pageid');
  await update(newer.id, `limits = limits || '{"waves": [1]}'`);
  const { stdout } = await keys.run('list');
  const pseudonyms = (limited.limits as { pseudonyms?: string }).pseudonyms;
  expect(stdout).toMatch(new RegExp(`^${whole.id} .* active {3}-$`, 'm'));
  const inShort = `2 surveys, without 1 question, no metadata, pseudonyms ${pseudonyms}`;
  expect(stdout).toMatch(new RegExp(`^${limited.id} .* active {3}${inShort}$`, 'm'));
  expect(stdout).toMatch(new RegExp(`^${newer.id} .* active {3}unknown$`, 'm'));

  const json = (await keys.run('list --json')).stdout;
  expect(json).not.toMatch(HEX);
  expect(JSON.parse(json)).toEqual(await listKeys(keys.url));
  expect((await keys.listed(limited.id))?.limits).toEqual(limited.limits);
  expect(limited.limits).toEqual({
    v: 1,
    surveys: ['Food', 'New'],
    without_questions: 1,
    metadata: [],
    pseudonyms,
  });
});

test('pseudonyms prints the participants that a key sees, as CSV, even if it is revoked', async () => {
  const { id } = await issued(
    '--survey Health --survey Food --form start --question age --pseudonyms',
  );
  await update(id, `revoked = now(), limits = limits || '{"secret": "${SECRET}"}'`);
  const run = (survey: string, of = id) => keys.run(`pseudonyms ${of} --survey ${survey}`);
  expect(await run('Health')).toEqual(
    printed(
      'userid,pseudonym', // made with Python's hmac
      '+254 1,p678217704de929059812747da080b0d5',
      '"a ""b"",\n",p0f3508c26995b64b924f2fe7b4d1af3d',
    ),
  );
  for (const hidden of ['Food', 'New', 'Foreign'])
    expect(await run(hidden)).toEqual(refusal(`--survey: key ${id} sees no survey "${hidden}"\n`));
  const whole = await keys.issue();
  expect(await run('Health', whole.id)).toEqual(refusal(`<id>: key ${whole.id} has no pseudonyms`));
});

test('pseudonyms reads many participants in parts, and stops with its reader', async () => {
  await query(
    keys.url,
    `${INSERT_RESPONSES} select '', id, 'start', 1, i, 'age', 1, '', '', '2026-03-01Z'
     from surveys, generate_series(1, 20001) i where survey_name = 'New'`,
  );
  const { id } = await issued('--pseudonyms');
  const read = async (most: number) => {
    const parts: string[] = [];
    await writePseudonyms(keys.url, id, 'New', (records) =>
      Promise.resolve(parts.push(records) < most),
    );
    return parts;
  };
  const lines = (await read(Infinity)).join('').trimEnd().split('\n');
  expect(new Set(lines).size).toBe(20_002);
  expect(lines.slice(1).every((line) => /^\d+,p[0-9a-f]{32}$/.test(line))).toBe(true);
  expect(await read(2)).toHaveLength(2);
});
