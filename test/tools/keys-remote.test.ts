import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { runWrangler } from '../../tools/keys/wrangler.ts';
import { ACCOUNT, fail, startCloudflare, succeed } from '../support/cloudflare.ts';
import { query } from '../support/database.ts';
import { type KeysCommand, UNKNOWN_ID, startKeysCommand } from '../support/keys.ts';
import { commandLines } from '../support/processes.ts';

const succeeding = () => ({ status: 200, body: succeed({}) });

describe('npm run keys, with --remote', () => {
  let keys: KeysCommand;

  beforeAll(async () => {
    keys = await startKeysCommand();
  });
  afterAll(() => keys?.stop());

  const isRevoked = async (id: string) =>
    (await query(keys.url, 'select from api_keys where id = $1 and revoked is not null', [id])).length === 1;

  test('clears the cache through the API', async () => {
    using cloudflare = await startCloudflare(succeeding);
    const { key, id } = await keys.issue();
    const { status, stderr } = await keys.runWith(cloudflare.env, 'revoke', id, '--remote');
    expect(status).toBe(0);
    expect(stderr).not.toContain('cache');
    const path = `/client/v4/accounts/${ACCOUNT}/storage/kv/namespaces/\\w+/bulk`;
    expect(cloudflare.calls).toEqual([expect.stringMatching(`^DELETE ${path} \\["${await hashApiKey(key)}"\\]$`)]);
  });

  test('shows an error of the API, without the hash', async () => {
    using cloudflare = await startCloudflare((_, body) => ({ status: 404, body: fail(10_013, `no entry ${body}`) }));
    const { key, id } = await keys.issue();
    const { status, stdout, stderr } = await keys.runWith(cloudflare.env, 'revoke', id, '--remote');
    expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringMatching(/^revoked /) });
    expect(stderr).toContain(
      'could not be removed from the cache (Cloudflare: no entry ["…"] [code: 10013]): it stops working',
    );
    expect(stderr).not.toContain(await hashApiKey(key));
    expect(await isRevoked(id)).toBe(true);
  });

  test('deletes nothing in an environment that wrangler.toml does not have', async () => {
    using cloudflare = await startCloudflare(succeeding);
    const { id } = await keys.issue();
    const { status, stderr } = await keys.runWith(cloudflare.env, 'revoke', id, '--remote', '--env', 'nowhere');
    expect(status).toBe(1);
    expect(stderr).toContain('(No environment found in configuration with name "nowhere")');
    expect(cloudflare.calls).toEqual([]);
  });

  test('gives up on a Cloudflare that does not respond, and leaves no process', async () => {
    using cloudflare = await startCloudflare(() => undefined);
    for (const [name, value] of Object.entries(cloudflare.env)) vi.stubEnv(name, value);
    const args = ['kv', 'key', 'delete', UNKNOWN_ID, '--binding', 'API_KEYS', '--remote'];
    await expect(runWrangler(args, { timeoutMs: 5_000 })).rejects.toThrow('wrangler took longer than 5 s');
    vi.unstubAllEnvs();
    await expect.poll(() => commandLines().filter((line) => line.includes(UNKNOWN_ID))).toEqual([]);
  });

  const NOWHERE = '--env: only valid with --remote, whose environment it names\n';
  const LOCAL = '--remote: set DATABASE_URL to the database of the deployed service, which this changes as well\n';

  test.each([
    ['revoke', ['--remote'], { DATABASE_URL: '' }, LOCAL],
    ['rotate', ['--env', 'x'], {}, NOWHERE],
  ])('%s refuses %j with %j', async (command, options, env, stderr) => {
    expect(await keys.runWith(env, command, UNKNOWN_ID, ...options)).toEqual({ status: 1, stdout: '', stderr });
  });
});
