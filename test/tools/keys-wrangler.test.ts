import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runWrangler } from '../../tools/keys/wrangler.ts';
import { commandLines } from '../support/processes.ts';

describe('a wrangler that gets no response', () => {
  let folder: string;
  let args: string[];
  let server: ReturnType<typeof createServer>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-wrangler-'));
    await writeFile(join(folder, 'entries.json'), '["hash"]');
    args = ['kv', 'bulk', 'delete', join(folder, 'entries.json'), '--force', '--binding', 'API_KEYS', '--remote'];
    server = createServer().listen(0, '127.0.0.1'); // accepts connections and never responds
    await once(server, 'listening');
    vi.stubEnv('CLOUDFLARE_API_BASE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`);
    vi.stubEnv('CLOUDFLARE_API_TOKEN', 'token');
    vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', '0123456789abcdef0123456789abcdef');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const processes = () => commandLines().filter((line) => line.includes(folder));

  test('is killed after the timeout, with its child processes', async () => {
    const running = runWrangler(args, { logFolder: folder, timeoutMs: 5_000 });
    await expect(running).rejects.toThrow('wrangler took longer than 5 s');
    expect(processes()).toEqual([]);
  });

  test('is killed when the command is interrupted', async () => {
    const interruption = new AbortController();
    const running = runWrangler(args, { logFolder: folder, signal: interruption.signal });
    await once(server, 'connection');
    expect(processes()).not.toEqual([]);
    interruption.abort();
    await expect(running).rejects.toThrow('interrupted');
    expect(processes()).toEqual([]);
  });
});
