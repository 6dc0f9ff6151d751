import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { hashApiKey, isWellFormedApiKey } from '../../src/auth/api-key.ts';
import { withConnection } from '../../tools/connection.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { rotateKey } from '../../tools/keys/rotate.ts';
import { runWrangler } from '../../tools/wrangler.ts';
import { ACCOUNT, fail, startCloudflare, succeed } from '../support/cloudflare.ts';
import { query, untilBlocked } from '../support/database.ts';
import { CACHE_NOTE, startKeysCommand, UNKNOWN_ID } from '../support/keys.ts';
import { refusal } from '../support/expected.ts';
import { commandLines } from '../support/processes.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PAST = '2026-01-02T03:04:59.000Z';

const keys = await startKeysCommand();
// Berlin's clocks change within most of the spans below, but a day must still have 24 hours.
await query(
  keys.url,
  `alter database ${new URL(keys.url).pathname.slice(1)} set timezone to 'Europe/Berlin'`,
);

const { listed, update } = keys;

describe('npm run keys -- rotate', () => {
  const rotated = async (id: string, { graceMs = DAY } = {}) =>
    (await rotateKey(keys.url, id, { graceMs })).rotated;
  /** Milliseconds between two times. */
  const span = (from: string | undefined, to: string | null | undefined) =>
    Date.parse(to ?? '') - Date.parse(from ?? '');

  test('prints only the new key on stdout; the old key works for a day', async () => {
    const old = await keys.issue({ name: 'Pull' });
    const { status, stdout, stderr } = await keys.run(`rotate ${old.id}`);
    expect(status).toBe(0);
    const key = stdout.trimEnd();
    expect(stdout).toBe(`${key}\n`);
    expect(isWellFormedApiKey(key)).toBe(true);
    const end = (await listed(old.id))?.expires;
    expect(stderr).toBe(
      `The old key (${old.prefix}…) works until ${end?.slice(0, 10)} ${end?.slice(11, 16)}Z.\n${CACHE_NOTE}`,
    );
    const found = (await listKeys(keys.url)).find(({ prefix }) => prefix === key.slice(0, 9));
    expect(found).toMatchObject({ name: 'Pull', email: 'you@example.org' });
    expect(span(found?.created, end)).toBe(DAY);
  });

  test('prints JSON; takes a lifetime and a grace period', async () => {
    const old = await keys.issue({ name: 'JSON', expires: '300d' });
    const { status, stdout } = await keys.run(`rotate --json ${old.id} --expires 200d --grace 90m`);
    expect(status).toBe(0);
    const result = JSON.parse(stdout) as Awaited<ReturnType<typeof rotated>>;
    const found = await listed(result.id);
    expect(result).toEqual({
      key: expect.stringMatching(/^sres_\w{49}$/),
      id: expect.not.stringContaining(old.id),
      email: 'you@example.org',
      name: 'JSON',
      prefix: result.key.slice(0, 9),
      expires: found?.expires,
      limits: null,
      replaces: { id: old.id, prefix: old.prefix, expires: (await listed(old.id))?.expires },
    });
    expect(found).toMatchObject({ state: 'active', prefix: result.prefix });
    const ends = [result.expires, result.replaces.expires];
    expect(ends.map((end) => span(found?.created, end))).toEqual([200 * DAY, 1.5 * HOUR]);
    // As docs/internals/keys.md states: a later version has to recognise it.
    const md5 = createHash('md5').update(`successor of ${old.id}`).digest('hex');
    expect(result.id.replaceAll('-', '')).toBe(md5);
  });

  test('gives the new key the lifetime of the old one, which it does not extend', async () => {
    const old = await keys.issue({ expires: '2401h' });
    await update(
      old.id,
      `created = created - interval '2400 hours', expires = expires - interval '2400 hours'`,
    );
    const before = (await listed(old.id))?.expires;
    const { id, expires, replaces } = await rotated(old.id);
    expect(Math.round(span((await listed(id))?.created, expires) / HOUR)).toBe(2401);
    expect([replaces.expires, (await listed(old.id))?.expires]).toEqual([before, before]);
  });

  test('expires the old key at once with a grace period of 0', async () => {
    const old = await keys.issue();
    const { status, stderr } = await keys.run(`rotate ${old.id} --grace 0 --expires 1d`);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^The old key \(sres_.{4}…\) no longer works, the new one until 20.*Z\.\n/,
    );
    expect((await listed(old.id))?.state).toBe('expired');
  });

  test('keeps limits', async () => {
    const { id } = await keys.issue();
    await update(id, `limits = '{"v": 1, "surveys": []}'`);
    const { id: newId, key, limits } = await rotated(id);
    expect(limits).toEqual({ v: 1, surveys: [] });
    const prefix = key.slice(0, 10);
    expect(await listed(newId)).toMatchObject({ prefix, limits });
    expect(prefix).toMatch(/^sresl_/);
  });

  async function expectRefusal(id: string, message: string): Promise<void> {
    const stored = () => query(keys.url, 'select * from api_keys order by id');
    const before = await stored();
    const error = {
      name: 'UserError',
      message: expect.stringContaining(`<id>: key ${id} ${message}`),
    };
    await expect(rotateKey(keys.url, id, { graceMs: DAY })).rejects.toMatchObject(error);
    expect(await stored()).toEqual(before);
  }

  test.each([
    ['expires', 'expired'],
    ['revoked', 'was revoked'],
  ])('refuses a key whose time in the column %s is over', async (column, ended) => {
    const { id } = await keys.issue();
    await update(id, `${column} = '${PAST}'`);
    const message = `${ended} at 2026-01-02 03:04Z and cannot be rotated. "npm run keys -- issue" issues a new one.`;
    await expectRefusal(id, message);
  });

  test.each([DAY, 0])(
    'refuses a key that was rotated already with a grace period of %d ms, and names its successor, which can be rotated',
    async (graceMs) => {
      const old = await keys.issue({ name: 'Nightly \u{1b}pull' });
      // Keys of the same account and name, one issued before and one after the rotation.
      await keys.issue({ name: 'Nightly \u{1b}pull' });
      const { id, prefix } = await rotated(old.id, { graceMs });
      await keys.issue({ name: 'Nightly \u{1b}pull' });
      const named = `was rotated already: key ${id} (Nightly \u{fffd}pull, ${prefix}…) replaces it`;
      await expectRefusal(old.id, `${named}. Rotate that one instead.`);
      await update(old.id, 'revoked = now()');
      await expectRefusal(old.id, `${named}. Rotate that one instead.`);

      const next = await rotated(id);
      await expectRefusal(id, `was rotated already: key ${next.id} (`);
      await update(id, `revoked = '${PAST}'`);
      await expectRefusal(
        old.id,
        `${named}, but that was revoked at 2026-01-02 03:04Z. "npm run keys -- issue" issues`,
      );
    },
  );

  test('refuses a key that another rotation expires while this one waits for its lock', async () => {
    const { id } = await keys.issue();
    await withConnection(keys.url, async (other) => {
      await other.query('begin');
      await other.query('select from api_keys where id = $1 for update', [id]);
      const outcome = keys.run(`rotate ${id}`);
      await untilBlocked(keys.url);
      await other.query('update api_keys set expires = clock_timestamp() where id = $1', [id]);
      await other.query('commit');
      expect(await outcome).toEqual(refusal(`<id>: key ${id} expired at `));
    });
  });

  test('waits 5 s for a lock of another session', async () => {
    const { id } = await keys.issue();
    await withConnection(keys.url, async (other) => {
      await other.query('begin');
      await other.query('select from api_keys where id = $1 for update', [id]);
      expect(await keys.run(`rotate ${id}`)).toEqual(
        refusal('Blocked for 5 s by a lock of another session: '),
      );
    });
  });
});

describe('npm run keys -- revoke', () => {
  test('revokes one key and names it', async () => {
    const [key, other] = [await keys.issue({ name: 'Pull' }), await keys.issue()];
    const before = Date.now();
    expect(await keys.run(`revoke ${key.id}`)).toEqual({
      status: 0,
      stdout: `revoked ${key.id} (Pull, ${key.prefix}…) of you@example.org\n`,
      stderr: CACHE_NOTE,
    });
    const at = Date.parse((await listed(key.id))?.revoked ?? '');
    expect(Math.abs(at - before)).toBeLessThan(60_000);
    expect((await listed(other.id))?.revoked).toBeNull();
  });

  test('keeps and shows the time at which a key was first revoked; prints an odd name without control characters', async () => {
    const { id, prefix } = await keys.issue();
    await update(id, `name = E'a\\u001b[2Jb', expires = '2026-01-01Z', revoked = '${PAST}'`);
    const { status, stdout } = await keys.run(`revoke ${id}`);
    expect(status).toBe(0);
    expect(stdout).toBe(
      `revoked ${id} (a�[2Jb, ${prefix}…) of you@example.org, already at 2026-01-02 03:04Z\n`,
    );
    expect((await listed(id))?.revoked).toBe(PAST);
  });

  test('revokes an expired key, and prints JSON', async () => {
    const { id, prefix } = await keys.issue({ name: 'Pull' });
    await update(id, `expires = '2026-01-01Z'`);
    const { stdout } = await keys.run(`revoke ${id} --json`);
    const revoked = (await listed(id))?.revoked;
    expect(revoked).not.toBeNull();
    expect(JSON.parse(stdout)).toEqual({
      id,
      email: 'you@example.org',
      name: 'Pull',
      prefix,
      revoked,
    });
  });
});

test('when the cache cannot be cleared, rotate prints the new key', async () => {
  const old = await keys.issue();
  await mkdir(join(keys.env.DATA_DIR, 'kv'), { recursive: true });
  // wrangler reads the hash from a temporary file
  const noFolder = { TMPDIR: join(keys.folder, 'nowhere') };
  const { status, stdout, stderr } = await keys.run(`rotate ${old.id}`, noFolder);
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout: expect.stringMatching(/^sres_\w{49}\n$/),
  });
  expect(stderr).toMatch(
    /^The old key .*\nThe key is rotated, but the old one could not be removed from the cache \(.+\): the old key may work for up to 5 minutes from now, even if it should end earlier\.\n$/,
  );
  expect(stderr).not.toContain(await hashApiKey(old.key));
});

describe('with --remote, the cache of the deployed service', () => {
  /** Revokes a new key while Cloudflare's API responds like this. */
  async function revokeRemotely(respond: Parameters<typeof startCloudflare>[0]) {
    using cloudflare = await startCloudflare(respond);
    const { key, id } = await keys.issue();
    const outcome = await keys.run(`revoke ${id} --remote`, cloudflare.env);
    expect(outcome.stdout).toMatch(/^revoked /);
    expect(await listed(id)).toMatchObject({ state: 'revoked' });
    return { ...outcome, hash: await hashApiKey(key), calls: cloudflare.calls };
  }

  test('is cleared through the API', async () => {
    const { status, stderr, calls, hash } = await revokeRemotely(() => succeed({}));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const path = `/client/v4/accounts/${ACCOUNT}/storage/kv/namespaces/\\w+/bulk`;
    expect(calls).toEqual([expect.stringMatching(`^DELETE ${path} \\["${hash}"\\]$`)]);
  });

  test('cannot be cleared: an error of the API is shown, without the hash', async () => {
    const refuse = (_: string, body: string) => fail(404, 10_013, `no entry ${body}`);
    const { status, stderr, hash } = await revokeRemotely(refuse);
    expect(status).toBe(1);
    expect(stderr).toContain(
      'could not be removed from the cache (Cloudflare: no entry ["…"] [code: 10013]): it stops working',
    );
    expect(stderr).not.toContain(hash);
  });

  test('is given up if Cloudflare does not respond, and no process is left', async () => {
    using cloudflare = await startCloudflare(() => undefined);
    for (const [name, value] of Object.entries(cloudflare.env)) vi.stubEnv(name, value);
    const args = ['kv', 'key', 'delete', UNKNOWN_ID, '--binding', 'API_KEYS', '--remote'];
    await expect(runWrangler(args, 1_000)).rejects.toThrow('wrangler took longer than 1 s');
    vi.unstubAllEnvs();
    await expect.poll(() => commandLines().filter((line) => line.includes(UNKNOWN_ID))).toEqual([]);
  });
});
