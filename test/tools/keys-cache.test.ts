import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { getPlatformProxy } from 'wrangler';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { CACHE_NOTE, type KeysCommand, startKeysCommand } from '../support/keys.ts';
import { commandLines } from '../support/processes.ts';
import { startTool } from '../support/run-tool.ts';

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

  test('loses only a revoked key, again when the command is repeated, then a rotated one', async () => {
    const [revoked, rotated, other] = [await keys.issue(), await keys.issue(), await keys.issue()];
    const hash = await hashApiKey(revoked.key);
    const rotatedHash = await hashApiKey(rotated.key);
    const otherHash = await hashApiKey(other.key);
    {
      await using cache = await openCache();
      await cache.put(hash, rotatedHash, otherHash);
    }
    expect(await keys.run('revoke', revoked.id)).toMatchObject({ status: 0, stderr: CACHE_NOTE });

    await using cache = await openCache(); // from here on, wrangler shares it with another process
    expect((await cache.hashes()).toSorted()).toEqual([rotatedHash, otherHash].toSorted());
    await cache.put(hash);
    expect(await keys.run('revoke', revoked.id)).toMatchObject({ status: 0, stderr: CACHE_NOTE });
    expect((await cache.hashes()).toSorted()).toEqual([rotatedHash, otherHash].toSorted());
    expect((await keys.run('rotate', rotated.id)).status).toBe(0);
    expect(await cache.hashes()).toEqual([otherHash]);
  });

  test('is not created by revoking a key', async () => {
    await keys.run('revoke', (await keys.issue()).id);
    await expect(stat(join(keys.folder, 'data'))).rejects.toThrow('ENOENT');
  });

  test('is cleared without leaving the hash in a process list, the output or a file', async () => {
    const { key, id } = await keys.issue();
    const hash = await hashApiKey(key);
    await mkdir(join(keys.folder, 'data/kv'), { recursive: true });

    const { child, outcome } = startTool('keys.ts', ['revoke', id], keys.env);
    const seen = new Set<string>();
    const modes = new Set<string>();
    while (child.exitCode === null) {
      for (const line of commandLines()) seen.add(line);
      for (const mode of await modesOfTemporaryFiles()) modes.add(mode);
      await sleep(10);
    }
    const { status, stdout, stderr } = await outcome;
    expect(status).toBe(0);
    const commands = [...seen].filter((line) => line.includes(keys.folder));
    expect(commands).toContainEqual(expect.stringContaining('cli.js kv bulk delete'));
    expect(modes).toEqual(new Set(['700 600']));
    for (const secret of [key, hash]) {
      expect([...seen].join('\n')).not.toContain(secret);
      expect(stdout + stderr).not.toContain(secret);
    }
    expect(await filesWith(hash)).toEqual([]);
    expect(await readdir(keys.folder, { recursive: true })).not.toContainEqual(expect.stringMatching(/\.log$/));
    expect(await readdir(keys.folder)).not.toContainEqual(expect.stringMatching(/^survey-export-keys/));
  });

  async function modesOfTemporaryFiles(): Promise<string[]> {
    const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    const folders = (await readdir(keys.folder)).filter((name) => name.startsWith('survey-export-keys-'));
    const read = async (name: string) => {
      const folder = join(keys.folder, name);
      return `${await mode(folder)} ${await mode(join(folder, 'entries.json'))}`;
    };
    const found = await Promise.allSettled(folders.map(read)); // a folder may be removed in the meantime
    return found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  async function filesWith(text: string): Promise<string[]> {
    const entries = await readdir(keys.folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const contents = await Promise.all(files.map((file) => readFile(file, 'latin1')));
    return files.filter((_, index) => contents[index]?.includes(text));
  }

  test('that cannot be cleared: the new key is printed', async () => {
    const old = await keys.issue();
    await mkdir(join(keys.folder, 'data/kv'), { recursive: true });
    await writeFile(join(keys.folder, 'data/kv/v3'), ''); // where wrangler needs a folder
    const { status, stdout, stderr } = await keys.run('rotate', old.id);
    expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringMatching(/^sres_\w{49}\n$/) });
    expect(stderr).toMatch(
      /^The old key .*\nThe key is rotated, but the old one could not be removed from the cache \(.+\): the old key may work for up to 5 minutes from now, even if it should end earlier\.\n$/,
    );
    expect(stderr).not.toContain(await hashApiKey(old.key));
  });
});
