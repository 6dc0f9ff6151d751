import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, startService } from '../support/npm-start.ts';
import { commandLines } from '../support/processes.ts';

let dataDir: string;
let port: number;
let service: Awaited<ReturnType<typeof startService>>;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'test-dev-'));
  port = await freePort();
  service = await startService({ PORT: String(port), DATA_DIR: dataDir }, ['--watch']);
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const get = (path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: `Bearer ${service.key}` } });

// These run in order, because a start takes seconds.
test('npm run dev serves the demo data, and none of wrangler’s tools', async () => {
  expect((await get('/api/v1/surveys')).status).toBe(200);
  for (const path of ['', '/api/storage/kv/namespaces', '/api/local/observability/query']) {
    const response = await get(`/cdn-cgi/local/explorer${path}`);
    expect([path, response.status]).toEqual([path, 404]);
  }
});

test.each(['src/worker.ts', 'site/home/main.ts'])('npm run dev reloads the Worker when %s changes', async (file) => {
  const reloads = () => service.output().split('Local server updated').length;
  const before = reloads();
  const now = new Date();
  await utimes(fileURLToPath(new URL(`../../${file}`, import.meta.url)), now, now);
  await expect.poll(reloads).toBeGreaterThan(before);
  expect((await get('/api/v1/surveys')).status).toBe(200);
});

test('Ctrl-C stops npm run dev with everything that it has started', async () => {
  expect((await service.stop('SIGINT')).status).toBe(0);
  const processes = () => commandLines().filter((line) => line.includes(dataDir) || line.includes(`:${port}`));
  await expect.poll(processes).toEqual([]);
});
