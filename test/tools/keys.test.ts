import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey, isWellFormedApiKey } from '../../src/auth/api-key.ts';
import { migrate } from '../../tools/migrations.ts';
import { startTool } from '../support/run-tool.ts';
import { type RunningDatabase, query, startDatabase } from '../support/database.ts';

const ISSUE = ['issue', '--email', 'you@example.org'];

describe('npm run keys', () => {
  let database: RunningDatabase;

  beforeAll(async () => {
    database = await startDatabase();
    await migrate(database.url);
    await query(database.url, `insert into users (email) values ('you@example.org')`);
  });
  afterAll(() => database?.stop());

  const keys = (...args: string[]) => startTool('keys.ts', args, { DATABASE_URL: database.url }).outcome;
  const stored = (hash: string) =>
    query<{ name: string; prefix: string; email: string; days: number | null }>(
      database.url,
      `select k.name, k.prefix, u.email, extract(epoch from k.expires - k.created)::float / 86400 as days
       from api_keys k join users u on u.id = k.userid where hash = $1`,
      [hash],
    );

  test('prints the key alone, and stores its hash', async () => {
    const { status, stdout, stderr } = await keys('issue', '--email', 'you@example.org');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const key = stdout.trimEnd();
    expect(stdout).toBe(`${key}\n`);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(await stored(await hashApiKey(key))).toEqual([
      { name: 'API key', prefix: key.slice(0, 9), email: 'you@example.org', days: null },
    ]);
    expect(JSON.stringify(await query(database.url, 'select * from api_keys'))).not.toContain(key);
  });

  test('takes a name and a time to live, and prints JSON', async () => {
    const { stdout } = await keys(
      'issue',
      '--email',
      'you@example.org',
      '--name',
      'Pull',
      '--expires',
      '90d',
      '--json',
    );
    const issued = JSON.parse(stdout) as { key: string; expires: string };
    expect(issued).toMatchObject({ email: 'you@example.org', name: 'Pull', prefix: issued.key.slice(0, 9) });
    const [row] = await stored(await hashApiKey(issued.key));
    expect(row?.name).toBe('Pull');
    expect(row?.days).toBeCloseTo(90, 2);
  });

  test('takes a name of 200 characters', async () => {
    const { stdout } = await keys(...ISSUE, '--name', '🙂'.repeat(200));
    expect(await stored(await hashApiKey(stdout.trimEnd()))).toMatchObject([{ name: '🙂'.repeat(200) }]);
  });

  test.each([
    [
      'an unknown account',
      ['issue', '--email', 'nobody@example.org'],
      '--email: there is no account "nobody@example.org"',
    ],
    [
      'a duration past a century',
      [...ISSUE, '--expires', '9999999d'],
      '--expires: 9999999d is too long: at most 36500d',
    ],
    ['an empty name', [...ISSUE, '--name', ' '], '--name: is empty'],
    ['a long name', [...ISSUE, '--name', '🙂'.repeat(201)], '--name: has 201 characters: expected 1 to 200'],
    ['a name with a line break', [...ISSUE, '--name', 'a\nb'], '--name: has control characters'],
    ['a bad duration', ['issue', '--email', 'you@example.org', '--expires', '3 weeks'], '--expires: "3 weeks" is not'],
    ['no account', ['issue'], "required option '--email <email>' not specified"],
  ])('refuses %s', async (_, args, message) => {
    const { status, stdout, stderr } = await keys(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('the help of npm run keys', () => {
  const help = (...args: string[]) => startTool('keys.ts', args, {}).outcome;

  test.each(['issue', 'list', 'rotate', 'revoke'])('of %s has examples', async (command) => {
    const { status, stdout } = await help(command, '--help');
    expect(status).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^Usage: npm run keys -- ${command} .*^Examples:\n  npm run --silent keys -- ${command}`, 'ms'),
    );
  });

  test.each([
    ['without a command', [], ''],
    ['for an unknown command', ['delete'], "error: unknown command 'delete'\n\n"],
  ])('is shown %s', async (_, args, before) => {
    const { status, stdout, stderr } = await help(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${before}Usage: npm run keys -- .*issue .*list .*rotate .*revoke`, 's'));
  });

  test('does not quote a key that was given as an argument too many', async () => {
    const key = generateApiKey();
    const { status, stderr } = await help('revoke', 'a', key);
    expect(status).toBe(1);
    expect(stderr).toContain('error: too many arguments');
    expect(stderr).not.toContain(key);
  });
});
