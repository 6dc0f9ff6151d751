import { afterAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey, isWellFormedApiKey } from '../../src/auth/api-key.ts';
import { parseDuration, parseKeyName } from '../../tools/keys/arguments.ts';
import type { IssuedKey } from '../../tools/keys/issue.ts';
import { query } from '../support/database.ts';
import { startKeysCommand, UNKNOWN_ID } from '../support/keys.ts';
import { printed, refusal } from '../support/expected.ts';

const ISSUE = 'issue --email you@example.org';

const keys = await startKeysCommand();
await query(keys.url, `insert into users (email) values ('two@example.org'), ('Two@example.org')`);

describe('npm run keys -- list', async () => {
  const HOSTILE = 'a\u{1b}[31mb\nc\u{9b}2Jd\u{202e}e';
  const id = (n: number) => `7c9e6679-7425-40de-944b-00000000000${n}`;
  const none = await keys.run('list');
  // Stored neither by account nor by age.
  await query(
    keys.url,
    `insert into users (email) values ('Zoe@example.org'), ('none@example.org')`,
  );
  await query(
    keys.url,
    `insert into api_keys (id, userid, name, prefix, hash, created, expires, revoked)
     select key.id::uuid, users.id, name, 'sres_' || name, name, created::timestamptz, expires::timestamptz, revoked::timestamptz
     from users join (values
       ('${id(1)}', 'you', 'new', '2026-11-20 10:15:59.999+01', '9999-12-31 23:59:30Z', null),
       ('${id(2)}', 'you', 'gone', '2026-02-01Z', null, '2026-02-03 04:05:06.789Z'),
       ('${id(3)}', 'you', 'old', '2026-01-01Z', '2026-01-02Z', null),
       ('${id(4)}', 'Zoe', 'other', '2026-12-01Z', null, null)
     ) key (id, owner, name, created, expires, revoked) on email = owner || '@example.org'`,
  );
  await query(keys.url, `insert into api_key_uses values ('${id(3)}', '2026-01-01 12:00Z')`);
  await query(keys.url, `update api_keys set name = $1 where name = 'other'`, [HOSTILE]);
  afterAll(() => query(keys.url, 'truncate api_keys, api_key_uses'));

  test('shows all keys in a table, by account and age', async () => {
    expect(await keys.run('list')).toEqual({
      status: 0,
      stdout: `\
id                                    account          name             prefix      created            expires            last used          state    limits
${id(4)}  Zoe@example.org  a�[31mb�c�2Jd�e  sres_other  2026-12-01 00:00Z  never              -                  active   -
${id(3)}  you@example.org  old              sres_old    2026-01-01 00:00Z  2026-01-02 00:00Z  2026-01-01 12:00Z  expired  -
${id(2)}  you@example.org  gone             sres_gone   2026-02-01 00:00Z  never              -                  revoked  -
${id(1)}  you@example.org  new              sres_new    2026-11-20 09:15Z  9999-12-31 23:59Z  -                  active   -
`,
      stderr: '',
    });
  });

  test('shows one account, whose e-mail address matches in any case', async () => {
    const { stdout } = await keys.run('list --email zoe@EXAMPLE.org');
    expect(stdout.trimEnd().split('\n').slice(1)).toEqual([expect.stringContaining(id(4))]);
  });

  test('reports that there are no keys', async () => {
    expect(none).toEqual({ status: 0, stdout: '', stderr: 'There are no keys.\n' });
    const { stderr } = await keys.run('list --email none@example.org');
    expect(stderr).toBe('The account "none@example.org" has no keys.\n');
    expect(await keys.run('list --email none@example.org --json')).toEqual(printed('[]'));
  });

  test('prints JSON, with times to the millisecond and control characters escaped', async () => {
    const { status, stdout, stderr } = await keys.run('list --json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toMatch(/[\p{Cc}\u{202e}](?!$)/u);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        email: 'Zoe@example.org',
        name: HOSTILE,
        lastUsed: null,
        state: 'active',
      }),
      expect.objectContaining({
        expires: '2026-01-02T00:00:00.000Z',
        lastUsed: '2026-01-01T12:00:00.000Z',
      }),
      {
        id: id(2),
        email: 'you@example.org',
        name: 'gone',
        prefix: 'sres_gone',
        created: '2026-02-01T00:00:00.000Z',
        expires: null,
        lastUsed: null,
        revoked: '2026-02-03T04:05:06.789Z',
        state: 'revoked',
        limits: null,
      },
      expect.objectContaining({ name: 'new', created: '2026-11-20T09:15:59.999Z' }),
    ]);
  });
});

describe('npm run keys -- issue', () => {
  const stored = async (key: string) =>
    query<{ id: string; email: string; name: string; prefix: string; expires: Date | null }>(
      keys.url,
      'select k.id, u.email, k.name, k.prefix, k.expires from api_keys k join users u on u.id = k.userid where hash = $1',
      [await hashApiKey(key)],
    );

  test('prints only the key, and stores only its hash; finds the account by its e-mail address in any case', async () => {
    const { status, stdout, stderr } = await keys.run('issue --email You@Example.ORG');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const key = stdout.trimEnd();
    expect(stdout).toBe(`${key}\n`);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(await stored(key)).toMatchObject([
      { email: 'you@example.org', name: 'API key', prefix: key.slice(0, 9), expires: null },
    ]);
    expect(JSON.stringify(await query(keys.url, 'select * from api_keys'))).not.toContain(key);
  });

  test('takes a name and a lifetime, and prints JSON; creates no account that exists', async () => {
    const options = '--name Pull --expires 90d --create-account --json';
    const { stdout, stderr } = await keys.run(`${ISSUE} ${options}`);
    expect(stderr).toBe('');
    const { key, ...issued } = JSON.parse(stdout) as IssuedKey;
    const [row] = await stored(key);
    const email = 'you@example.org';
    expect(row).toMatchObject({ email, name: 'Pull', prefix: key.slice(0, 9) });
    expect((Number(row?.expires) - Date.now()) / 86_400_000).toBeCloseTo(90, 2);
    expect(issued).toEqual({ ...row, expires: row?.expires?.toISOString(), limits: null });
  });

  test('creates the account with --create-account', async () => {
    const { stdout, stderr } = await keys.run('issue --email new@example.org --create-account');
    expect(stderr).toBe('Created the account "new@example.org".\n');
    expect(await stored(stdout.trim())).toMatchObject([{ email: 'new@example.org' }]);
  });
});

describe('npm run keys', () => {
  test('shows its help without a command', async () => {
    const help = /^Usage: npm run keys -- .*issue .*list .*rotate .*revoke/s;
    expect(await keys.run('')).toEqual(refusal(help));
  });

  const KEY = generateApiKey();

  test.each([
    ['issue', "required option '--email <email>' not specified"],
    [`${ISSUE} --name " "`, '--name: must have 1 to 200 characters'],
    ['issue --create-account --email new', '--email: "new" is not an e-mail address'],
    [
      'issue --email TWO@example.org',
      '"Two@example.org" and "two@example.org" differ only in upper and lower',
    ],
    [
      `revoke ${UNKNOWN_ID}`,
      `there is no key ${UNKNOWN_ID}. "npm run keys -- list" shows all keys.`,
    ],
    [`revoke a ${KEY}`, 'error: too many arguments'],
    [`revoke ${KEY}`, 'this is a key, not the id of one. "npm run keys -- list" shows the ids.'],
    ['revoke 42', '<id>: this is not the id of a key (a UUID).'],
    [
      `rotate ${UNKNOWN_ID} --grace soon`,
      '--grace: "soon" is not a duration such as 90d, 12h, 30m or 0',
    ],
    [`rotate ${UNKNOWN_ID} --env x`, '--env: only valid with --remote, whose environment it names'],
    [
      `revoke ${UNKNOWN_ID} --remote`,
      '--remote: set DATABASE_URL to the database of the deployed service',
      '',
    ],
  ])('refuses "%s", without quoting a key', async (args, message, DATABASE_URL = keys.url) => {
    const outcome = await keys.run(args, { DATABASE_URL });
    expect(outcome).toEqual(refusal(message));
    expect(outcome.stderr).not.toContain(KEY);
  });
});

test('durations are numbers of seconds, minutes, hours or days, of a century at most; a grace period can be 0', () => {
  const grace = (text: string) => parseDuration('--grace', text, { orZero: true });
  expect(['5s', '30m', '90d', '36500d', '0', '0h'].map(grace)).toEqual([
    5_000, 1_800_000, 7_776_000_000, 3_153_600_000_000, 0, 0,
  ]);
  const lifetime = (text: string) => () => parseDuration('--expires', text);
  for (const text of ['', '0', '5', '1.5h', '1d\n'])
    expect(lifetime(text)).toThrow('is not a duration such as');
  for (const text of ['36501d', '876001h'])
    expect(lifetime(text)).toThrow('is too long: at most 36500d');
});

test('a name has 1 to 200 characters, without control characters', () => {
  expect(parseKeyName('🙂'.repeat(200))).toBe('🙂'.repeat(200));
  for (const name of ['🙂'.repeat(201), 'a\nb'])
    expect(() => parseKeyName(name)).toThrow(
      '--name: must have 1 to 200 characters, and no control',
    );
});
