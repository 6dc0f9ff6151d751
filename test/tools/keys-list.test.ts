import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listKeys } from '../../tools/keys/list.ts';
import { query } from '../support/database.ts';
import { type KeysCommand, startKeysCommand } from '../support/keys.ts';
import type { Outcome } from '../support/run-tool.ts';

const HOSTILE = 'a\u{1b}[31mb\nc\u{9b}2Jd\u{202e}e';

describe('npm run keys -- list', () => {
  let keys: KeysCommand;
  let none: Outcome;
  const issued: { id: string; prefix: string }[] = [];

  beforeAll(async () => {
    keys = await startKeysCommand();
    none = await keys.run('list');

    // Stored neither by account nor by age.
    await query(keys.url, `insert into users (email) values ('Zoe@example.org'), ('none@example.org')`);
    for (const name of ['new', 'gone', 'old', 'other']) issued.push(await keys.issue({ name }));
    await query(
      keys.url,
      `update api_keys set
         created = case name when 'new' then timestamptz '2026-11-20 10:15:59.999+01' when 'gone' then '2026-02-01Z'
                             when 'old' then '2026-01-01Z' else '2020-01-01Z' end,
         expires = case name when 'new' then timestamptz '9999-12-31 23:59:30Z' when 'old' then '2026-01-02Z' end,
         revoked = case name when 'gone' then timestamptz '2026-02-03 04:05:06.789Z' end`,
    );
    await query(
      keys.url,
      `insert into api_key_uses select id, timestamptz '2026-01-01 12:00Z' from api_keys where name = 'old'`,
    );
    await query(
      keys.url,
      `update api_keys set name = $1, userid = (select id from users where email = 'Zoe@example.org') where name = 'other'`,
      [HOSTILE],
    );
  });
  afterAll(() => keys?.stop());

  test('reports that there are no keys', () => {
    expect(none).toEqual({ status: 0, stdout: '', stderr: 'There are no keys.\n' });
  });

  test('shows all keys in a table, by account and age', async () => {
    const { status, stdout, stderr } = await keys.run('list');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [fresh, gone, old, other] = issued;
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'account', 'name', 'prefix', 'created', 'expires', 'last used', 'state'],
      row(other, ['Zoe@example.org', 'a�[31mb�c�2Jd�e'], ['2020-01-01 00:00Z', 'never', '-', 'active']),
      row(old, ['you@example.org', 'old'], ['2026-01-01 00:00Z', '2026-01-02 00:00Z', '2026-01-01 12:00Z', 'expired']),
      row(gone, ['you@example.org', 'gone'], ['2026-02-01 00:00Z', 'never', '-', 'revoked']),
      row(fresh, ['you@example.org', 'new'], ['2026-11-20 09:15Z', '9999-12-31 23:59Z', '-', 'active']),
      [''],
    ]);
    const lines = stdout.trimEnd().split('\n');
    const column = lines[0]?.indexOf('created') ?? -1;
    for (const line of lines.slice(1)) expect(line.slice(column - 1)).toMatch(/^ 20\d\d-\d\d-\d\d /);
  });

  const row = (key: { id: string; prefix: string } | undefined, who: string[], rest: string[]) => [
    key?.id,
    ...who,
    key?.prefix,
    ...rest,
  ];

  test('shows one account, whose e-mail address matches in any case', async () => {
    const { stdout } = await keys.run('list', '--email', 'zoe@EXAMPLE.org');
    expect(stdout.trimEnd().split('\n').slice(1)).toEqual([expect.stringContaining(issued[3]?.id ?? '?')]);
    expect(await keys.run('list', '--email', 'none@example.org')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'The account "none@example.org" has no keys.\n',
    });
    expect(await keys.run('list', '--email', 'none@example.org', '--json')).toEqual({
      status: 0,
      stdout: '[]\n',
      stderr: '',
    });
  });

  test('prints JSON, with times to the millisecond and control characters escaped', async () => {
    const { status, stdout, stderr } = await keys.run('list', '--json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toMatch(/[\p{Cc}\u{202e}](?!$)/u);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ email: 'Zoe@example.org', name: HOSTILE, lastUsed: null, state: 'active' }),
      expect.objectContaining({
        name: 'old',
        expires: '2026-01-02T00:00:00.000Z',
        lastUsed: '2026-01-01T12:00:00.000Z',
      }),
      {
        id: issued[1]?.id,
        email: 'you@example.org',
        name: 'gone',
        prefix: issued[1]?.prefix,
        created: '2026-02-01T00:00:00.000Z',
        expires: null,
        lastUsed: null,
        revoked: '2026-02-03T04:05:06.789Z',
        state: 'revoked',
      },
      expect.objectContaining({ name: 'new', created: '2026-11-20T09:15:59.999Z', state: 'active' }),
    ]);
  });

  test('refuses an unknown account', async () => {
    await expect(listKeys(keys.url, 'nobody@example.org')).rejects.toThrow(
      '--email: there is no account "nobody@example.org".',
    );
  });
});
