import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { getPlatformProxy } from 'wrangler';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { revokeKey } from '../../tools/keys/revoke.ts';
import { commandLines } from '../support/processes.ts';
import { startTool } from '../support/run-tool.ts';
import { CACHE_NOTE, type KeysCommand, startKeysCommand } from '../support/keys.ts';

/** The part of a KV namespace that the tests use. */
interface Cache {
  put(name: string, value: string): Promise<void>;
  list(): Promise<{ readonly keys: readonly { readonly name: string }[] }>;
}

const configPath = fileURLToPath(new URL('../../wrangler.toml', import.meta.url));

describe('the local key cache', () => {
  let keys: KeysCommand;

  beforeAll(async () => {
    keys = await startKeysCommand();
    vi.stubEnv('WRANGLER_LOG', 'error'); // hides a warning about DATABASE_URL, which the cache does not need
  });
  afterEach(() => rm(join(keys.folder, 'data'), { recursive: true, force: true }));
  afterAll(async () => {
    vi.unstubAllEnvs();
    await keys?.stop();
  });

  /** Opens the cache in this process as wrangler does for a service. wrangler's commands would take more than a second each. */
  async function openCache() {
    const persist = { path: join(keys.folder, 'data/kv/v3') }; // where wrangler stores data with --persist-to data/kv
    const { env, dispose } = await getPlatformProxy<{ API_KEYS: Cache }>({ configPath, persist, envFiles: [] });
    return {
      put: (...hashes: string[]) => Promise.all(hashes.map((hash) => env.API_KEYS.put(hash, '{}'))),
      hashes: async () => (await env.API_KEYS.list()).keys.map(({ name }) => name),
      [Symbol.asyncDispose]: dispose,
    };
  }

  /** Revokes a key. @returns the command's outcome, and the command lines of all processes meanwhile: wrangler runs for a second */
  async function watchRevoking(id: string) {
    const { child, outcome } = startTool('keys.ts', ['revoke', id], keys.env);
    const seen = new Set<string>();
    for (; child.exitCode === null; await sleep(100)) for (const line of commandLines()) seen.add(line);
    return { ...(await outcome), seen: [...seen].join('\n') };
  }

  test('loses only a revoked key, also when it was revoked before; the hash is in no process list or file', async () => {
    const [revoked, other] = [await keys.issue(), await keys.issue()];
    const [hash, otherHash] = [await hashApiKey(revoked.key), await hashApiKey(other.key)];
    await revokeKey(keys.url, revoked.id);
    await using cache = await openCache(); // wrangler shares it with another process
    await cache.put(hash, otherHash);
    const { status, stderr, seen } = await watchRevoking(revoked.id);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining(CACHE_NOTE) });
    expect(await cache.hashes()).toEqual([otherHash]);
    expect(seen).toContain('kv bulk delete');
    expect(seen).not.toContain(hash);
    expect(await readdir(keys.folder, { recursive: true })).not.toContainEqual(
      expect.stringMatching(/\.log$|^survey-export-/),
    );
  });

  test('that cannot be cleared: the new key is printed', async () => {
    const old = await keys.issue();
    await mkdir(join(keys.folder, 'data/kv'), { recursive: true });
    const noFolder = { TMPDIR: join(keys.folder, 'nowhere') }; // wrangler reads the hash from a temporary file
    const { status, stdout, stderr } = await keys.runWith(noFolder, 'rotate', old.id);
    expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringMatching(/^sres_\w{49}\n$/) });
    expect(stderr).toMatch(
      /^The old key .*\nThe key is rotated, but the old one could not be removed from the cache \(.+\): the old key may work for up to 5 minutes from now, even if it should end earlier\.\n$/,
    );
    expect(stderr).not.toContain(await hashApiKey(old.key));
  });
});
