import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey, isWellFormedApiKey } from '../../src/auth/api-key.ts';
import { type IssuedKey, type IssueOptions, issueKey } from '../../tools/keys/issue.ts';
import { query } from '../support/database.ts';
import { type KeysCommand, startKeysCommand } from '../support/keys.ts';
import { startTool } from '../support/run-tool.ts';

const ISSUE = ['issue', '--email', 'you@example.org'];

describe('npm run keys -- issue', () => {
  let keys: KeysCommand;

  beforeAll(async () => {
    keys = await startKeysCommand();
  });
  afterAll(() => keys?.stop());

  const stored = async (key: string) =>
    query<{ id: string; email: string; name: string; prefix: string; expires: Date | null }>(
      keys.url,
      `select k.id, u.email, k.name, k.prefix, k.expires
       from api_keys k join users u on u.id = k.userid where hash = $1`,
      [await hashApiKey(key)],
    );

  test('prints only the key, and stores only its hash', async () => {
    const { status, stdout, stderr } = await keys.run(...ISSUE);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const key = stdout.trimEnd();
    expect(stdout).toBe(`${key}\n`);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(await stored(key)).toMatchObject([
      { email: 'you@example.org', name: 'API key', prefix: key.slice(0, 9), expires: null },
    ]);
    expect(JSON.stringify(await query(keys.url, 'select * from api_keys'))).not.toContain(key);
  });

  test('takes a name and a lifetime, and prints JSON', async () => {
    const { stdout } = await keys.run(...ISSUE, '--name', 'Pull', '--expires', '90d', '--json');
    const issued = JSON.parse(stdout) as IssuedKey;
    const [row] = await stored(issued.key);
    expect(row).toMatchObject({ email: 'you@example.org', name: 'Pull', prefix: issued.key.slice(0, 9) });
    expect((Number(row?.expires) - Date.now()) / 86_400_000).toBeCloseTo(90, 2);
    expect(issued).toEqual({ ...row, key: issued.key, expires: row?.expires?.toISOString() });
  });

  const issue = (email: string, options: Partial<IssueOptions> = {}) =>
    issueKey(keys.url, { email, name: 'key', ...options });

  test('finds the account by its e-mail address in any case', async () => {
    expect(await issue('You@Example.ORG')).toMatchObject({ email: 'you@example.org' });
  });

  test('creates the account with --create-account, once', async () => {
    const email = 'new@example.org';
    const { status, stdout, stderr } = await keys.run('issue', '--email', email, '--create-account');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'Created the account "new@example.org".\n' });
    const notices: string[] = [];
    const second = await issue(email, { createAccount: true, onNotice: (notice) => notices.push(notice) });
    expect(notices).toEqual([]);
    for (const key of [stdout.trim(), second.key]) expect(await stored(key)).toMatchObject([{ email }]);
  });

  test('refuses an e-mail address that two accounts match, or none', async () => {
    await query(keys.url, `insert into users (email) values ('two@example.org'), ('Two@example.org')`);
    await expect(issue('TWO@example.org')).rejects.toThrow(
      'the accounts "Two@example.org" and "two@example.org" differ only in upper and lower case',
    );
    await expect(issue('nobody@example.org')).rejects.toThrow('there is no account "nobody@example.org". "npm');
  });

  test.each([
    ['a bad name', [...ISSUE, '--name', ' '], '--name: is empty'],
    ['a bad lifetime', [...ISSUE, '--expires', '3 weeks'], '--expires: "3 weeks" is not'],
    ['a bad address of a new account', ['issue', '--create-account', '--email', 'new'], '--email: "new" is not'],
    ['no account', ['issue'], "required option '--email <email>' not specified"],
  ])('refuses %s', async (_, args, message) => {
    const { status, stdout, stderr } = await keys.run(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('the help of npm run keys', () => {
  const help = (...args: string[]) => startTool('keys.ts', args, {}).outcome;

  test('has examples', async () => {
    const { status, stdout } = await help('issue', '--help');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run keys -- issue .*^Examples:\n {2}npm run --silent keys -- issue/ms);
  });

  test('is shown without a command', async () => {
    const { status, stdout, stderr } = await help();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Usage: npm run keys -- .*issue .*list .*rotate .*revoke/s);
  });

  test('does not quote a key given as an extra argument', async () => {
    const key = generateApiKey();
    const { status, stderr } = await help('revoke', 'a', key);
    expect(status).toBe(1);
    expect(stderr).toContain('error: too many arguments');
    expect(stderr).not.toContain(key);
  });
});
