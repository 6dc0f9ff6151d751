import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hashApiKey, isWellFormedApiKey } from '../../src/auth/api-key.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { type RotatedKey, rotateKey } from '../../tools/keys/rotate.ts';
import { query } from '../support/database.ts';
import { CACHE_NOTE, type KeysCommand, UNKNOWN_ID, startKeysCommand } from '../support/keys.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('npm run keys -- rotate', () => {
  let keys: KeysCommand;

  beforeAll(async () => {
    keys = await startKeysCommand();
    // Berlin's clocks change within most of the spans below, but a day must still have 24 hours.
    const [{ name } = { name: '' }] = await query<{ name: string }>(keys.url, 'select current_database() as name');
    await query(keys.url, `alter database "${name}" set timezone to 'Europe/Berlin'`);
  });
  afterAll(() => keys?.stop());

  const listed = async (id: string) => (await listKeys(keys.url)).find((key) => key.id === id);
  /** What the command prints. */
  const printed = async (...args: string[]) => {
    const { status, stdout } = await keys.run('rotate', '--json', ...args);
    expect(status).toBe(0);
    return JSON.parse(stdout) as RotatedKey;
  };
  const rotated = async (id: string, { graceMs = DAY } = {}) => (await rotateKey(keys.url, id, { graceMs })).rotated;
  /** Milliseconds between two times. */
  const span = (from: string | undefined, to: string | null | undefined) =>
    Date.parse(to ?? '') - Date.parse(from ?? '');

  test('prints only the new key on stdout; the old key works for a day', async () => {
    const old = await keys.issue({ name: 'Pull' });
    const { status, stdout, stderr } = await keys.run('rotate', old.id);
    expect(status).toBe(0);
    const key = stdout.trimEnd();
    expect(stdout).toBe(`${key}\n`);
    expect(isWellFormedApiKey(key)).toBe(true);
    const end = (await listed(old.id))?.expires;
    expect(stderr).toBe(
      `The old key (${old.prefix}…) works until ${end?.slice(0, 10)} ${end?.slice(11, 16)}Z.\n${CACHE_NOTE}`,
    );
    const stored = await query<{ id: string; name: string; email: string }>(
      keys.url,
      'select k.id, k.name, u.email from api_keys k join users u on u.id = k.userid where hash = $1',
      [await hashApiKey(key)],
    );
    expect(stored).toMatchObject([{ name: 'Pull', email: 'you@example.org' }]);
    expect(span((await listed(stored[0]?.id ?? ''))?.created, end)).toBe(DAY);
  });

  test('prints JSON', async () => {
    const old = await keys.issue({ name: 'JSON' });
    const result = await printed(old.id);
    expect(result).toEqual({
      key: expect.stringMatching(/^sres_\w{49}$/),
      id: expect.not.stringContaining(old.id),
      email: 'you@example.org',
      name: 'JSON',
      prefix: result.key.slice(0, 9),
      expires: null,
      replaces: { id: old.id, prefix: old.prefix, expires: (await listed(old.id))?.expires },
    });
    expect(await listed(result.id)).toMatchObject({ state: 'active', prefix: result.prefix });
    // As docs/keys.md states: a later version has to recognise it.
    const md5 = createHash('md5').update(`successor of ${old.id}`).digest('hex');
    expect(result.id.replaceAll('-', '')).toBe(md5);
  });

  test('gives the new key the lifetime of the old one', async () => {
    const old = await keys.issue({ expires: '300d' });
    await query(
      keys.url,
      `update api_keys set created = created - interval '2400 hours', expires = expires - interval '2400 hours' where id = $1`,
      [old.id],
    );
    const { id, expires } = await rotated(old.id);
    expect(Math.round(span((await listed(id))?.created, expires) / HOUR)).toBe(300 * 24);
  });

  test('takes a lifetime and a grace period', async () => {
    const old = await keys.issue({ expires: '300d' });
    const { id, expires, replaces } = await printed(old.id, '--expires', '200d', '--grace', '90m');
    const created = (await listed(id))?.created;
    expect(span(created, expires)).toBe(200 * DAY);
    expect(span(created, replaces.expires)).toBe(1.5 * HOUR);
  });

  test('never extends the lifetime of the old key', async () => {
    const old = await keys.issue({ expires: '1h' });
    const before = (await listed(old.id))?.expires;
    expect((await rotated(old.id)).replaces.expires).toBe(before);
    expect((await listed(old.id))?.expires).toBe(before);
  });

  test('expires the old key at once with a grace period of 0', async () => {
    const old = await keys.issue();
    const { status, stderr } = await keys.run('rotate', old.id, '--grace', '0', '--expires', '1d');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^The old key \(sres_.{4}…\) no longer works, the new one until 20.*Z\.\n/);
    expect((await listed(old.id))?.state).toBe('expired');
  });

  test('refuses an expired key', async () => {
    const old = await keys.issue();
    await query(keys.url, `update api_keys set expires = '2026-01-02 03:04:59Z' where id = $1`, [old.id]);
    await expectRefusal(
      old.id,
      `<id>: key ${old.id} expired at 2026-01-02 03:04Z and cannot be rotated. "npm run keys -- issue" issues a new one.`,
    );
  });

  test.each([DAY, 0])(
    'refuses a key that was rotated already with a grace period of %d ms, and names its successor, which can be rotated',
    async (graceMs) => {
      const old = await keys.issue({ name: 'Nightly \u{1b}pull' });
      // Keys of the same account and name, one issued before and one after the rotation.
      await keys.issue({ name: 'Nightly \u{1b}pull' });
      const { id, prefix } = await rotated(old.id, { graceMs });
      await keys.issue({ name: 'Nightly \u{1b}pull' });
      const named = `<id>: key ${old.id} was rotated already: key ${id} (Nightly \u{fffd}pull, ${prefix}…) replaces it`;
      await expectRefusal(old.id, `${named}. Rotate that one instead.`);
      await query(keys.url, 'update api_keys set revoked = now() where id = $1', [old.id]);
      await expectRefusal(old.id, `${named}. Rotate that one instead.`);

      const next = await rotated(id);
      await expectRefusal(id, `<id>: key ${id} was rotated already: key ${next.id} (`);
      await query(keys.url, `update api_keys set revoked = '2026-01-02 03:04:59Z' where id = $1`, [id]);
      await expectRefusal(
        old.id,
        `${named}, but that was revoked at 2026-01-02 03:04Z. "npm run keys -- issue" issues`,
      );
    },
  );

  test('rotates a key once, however many commands do so at the same time', async () => {
    const old = await keys.issue({ name: 'raced' });
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => rotateKey(keys.url, old.id, { graceMs: DAY })));
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.rotated.id] : []));
    const lost = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    expect(won).toHaveLength(1);
    expect(lost).toEqual([1, 2, 3].map(() => expect.stringContaining(`was rotated already: key ${won[0]} (raced, `)));
    expect(await query(keys.url, `select from api_keys where name = 'raced'`)).toHaveLength(2);
  });

  test('refuses a revoked key', async () => {
    const old = await keys.issue();
    await query(keys.url, `update api_keys set revoked = '2026-01-02 03:04:59Z' where id = $1`, [old.id]);
    await expectRefusal(old.id, `<id>: key ${old.id} was revoked at 2026-01-02 03:04Z and cannot be rotated`);
  });

  async function expectRefusal(id: string, message: string): Promise<void> {
    const stored = () => query(keys.url, 'select * from api_keys order by id');
    const before = await stored();
    await expect(rotateKey(keys.url, id, { graceMs: DAY })).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringContaining(message),
    });
    expect(await stored()).toEqual(before);
  }

  test.each([
    ['an unknown id', [UNKNOWN_ID], `<id>: there is no key ${UNKNOWN_ID}. "npm run keys -- list" shows all keys.`],
    [
      'a bad grace period',
      [UNKNOWN_ID, '--grace', 'soon'],
      '--grace: "soon" is not a duration such as 90d, 12h, 30m or 0',
    ],
    ['a lifetime of 0', [UNKNOWN_ID, '--expires', '0'], '--expires: "0" is not a duration'],
  ])('refuses %s', async (_, args, message) => {
    const { status, stdout, stderr } = await keys.run('rotate', ...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

test('rotate refuses a key that another rotation expires while this one waits for its lock', async () => {
  const keys = await startKeysCommand();
  onTestFinished(() => keys.stop());
  const old = await keys.issue({ name: 'twice' });
  const other = new Client({ connectionString: keys.url });
  await other.connect();
  await other.query('begin');
  await other.query('select from api_keys where id = $1 for update', [old.id]);
  const refusal = keys.run('rotate', old.id);
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(() => query(keys.url, waiting)).toHaveLength(1);
  await other.query('update api_keys set expires = clock_timestamp() where id = $1', [old.id]);
  await other.query('commit');
  await other.end();
  const { status, stderr } = await refusal;
  expect(status).toBe(1);
  expect(stderr).toContain(`<id>: key ${old.id} expired at `);
});
