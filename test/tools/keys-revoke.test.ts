import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { query } from '../support/database.ts';
import { CACHE_NOTE, type KeysCommand, UNKNOWN_ID, startKeysCommand } from '../support/keys.ts';

describe('npm run keys -- revoke', () => {
  let keys: KeysCommand;

  beforeAll(async () => {
    keys = await startKeysCommand();
  });
  afterAll(() => keys?.stop());

  const revokedAt = async (id: string) =>
    (await query<{ revoked: Date | null }>(keys.url, 'select revoked from api_keys where id = $1', [id]))[0]?.revoked;

  test('revokes one key and names it', async () => {
    const [key, other] = [await keys.issue({ name: 'Pull' }), await keys.issue()];
    const before = Date.now();
    expect(await keys.run('revoke', key.id)).toEqual({
      status: 0,
      stdout: `revoked ${key.id} (Pull, ${key.prefix}…) of you@example.org\n`,
      stderr: CACHE_NOTE,
    });
    const at = (await revokedAt(key.id))?.getTime() ?? 0;
    expect(Math.abs(at - before)).toBeLessThan(60_000);
    expect(await revokedAt(other.id)).toBeNull();
  });

  test('keeps and shows the time at which a key was first revoked', async () => {
    const key = await keys.issue({ name: 'Pull' });
    const before = new Date('2026-01-02T03:04:59.123Z');
    await query(keys.url, 'update api_keys set revoked = $2 where id = $1', [key.id, before]);
    const { status, stdout } = await keys.run('revoke', key.id);
    expect(status).toBe(0);
    expect(stdout).toBe(`revoked ${key.id} (Pull, ${key.prefix}…) of you@example.org, already at 2026-01-02 03:04Z\n`);
    expect(await revokedAt(key.id)).toEqual(before);
  });

  test('prints JSON', async () => {
    const { id, prefix } = await keys.issue({ name: 'Pull' });
    const { stdout } = await keys.run('revoke', id, '--json');
    const revoked = (await revokedAt(id))?.toISOString();
    expect(JSON.parse(stdout)).toEqual({ id, email: 'you@example.org', name: 'Pull', prefix, revoked });
  });

  test('revokes an expired key, whose name is printed without control characters', async () => {
    const { id } = await keys.issue();
    await query(keys.url, `update api_keys set name = E'a\\u001b[2Jb', expires = '2026-01-01Z' where id = $1`, [id]);
    const { status, stdout } = await keys.run('revoke', id);
    expect(status).toBe(0);
    expect(stdout).toContain(`revoked ${id} (a�[2Jb, `);
    expect(await revokedAt(id)).not.toBeNull();
  });

  test('names the session that blocks it, and how to end that', async () => {
    const { id } = await keys.issue();
    await withConnection(keys.url, async (other) => {
      const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = String(rows[0]?.pid);
      await other.query('begin');
      await other.query('select from api_keys where id = $1 for update', [id]);
      const { status, stdout, stderr } = await keys.run('revoke', id);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr.replace(/since 2\d{3}-\d\d-\d\dT\S{12}Z/, 'since TIME')).toBe(
        `Blocked for 5 s by a lock of process ${pid} (role postgres, since TIME): ` +
          `try again when it has ended, or end it with "select pg_terminate_backend(${pid})".\n`,
      );
    });
  });

  test('refuses an unknown id', async () => {
    const stderr = `<id>: there is no key ${UNKNOWN_ID}. "npm run keys -- list" shows all keys.\n`;
    expect(await keys.run('revoke', UNKNOWN_ID)).toEqual({ status: 1, stdout: '', stderr });
  });
});
