import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { runWrangler } from '../../tools/wrangler.ts';
import { ACCOUNT, fail, startCloudflare, succeed } from '../support/cloudflare.ts';
import { startKeysCommand, UNKNOWN_ID } from '../support/keys.ts';
import { commandLines } from '../support/processes.ts';

const keys = await startKeysCommand();

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
    expect(await keys.listed(id)).toMatchObject({ state: 'revoked' });
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
