import { utimes } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePort, startService } from '../support/npm-start.ts';
import { newFolder } from '../support/once-per-run.ts';
import { commandLines } from '../support/processes.ts';

const dataDir = await newFolder();
const port = await freePort();
const service = await startService({ PORT: String(port), DATA_DIR: dataDir }, ['--watch']);

const get = (path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: `Bearer ${service.key}` } });

// These run in order, because a start takes seconds.
test('npm run dev serves the demo data, and none of wrangler’s tools', async () => {
  expect((await get('/api/v1/surveys')).status).toBe(200);
  for (const path of ['', '/api/storage/kv/namespaces'])
    expect((await get(`/cdn-cgi/local/explorer${path}`)).status).toBe(404);
});

test.each(['src/worker.ts', 'site/home/main.ts'])(
  'npm run dev reloads the Worker when %s changes',
  async (file) => {
    const reloads = () => service.output().split('Local server updated').length;
    const before = reloads();
    const now = new Date();
    await utimes(fileURLToPath(new URL(`../../${file}`, import.meta.url)), now, now);
    await expect.poll(reloads).toBeGreaterThan(before);
    expect((await get('/api/v1/surveys')).status).toBe(200);
  },
);

test('Ctrl-C stops npm run dev with everything that it has started', async () => {
  expect((await service.stop('SIGINT')).status).toBe(0);
  const processes = () =>
    commandLines().filter((line) => line.includes(dataDir) || line.includes(`:${port}`));
  await expect.poll(processes).toEqual([]);
});
