import { readFile, readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type OpenPage, openPage } from './browser.ts';

const LATENCY_MS = 300;
const FOLDER = new URL('../../site/dist/assets/', import.meta.url);
/** Compressed with gzip. */
const MOST_BYTES = 70_000;

interface View {
  /** From the start of the navigation until the key field stands. */
  readonly milliseconds: number;
  /** The paths of what was requested from the service, with the bytes that arrived. */
  readonly requests: ReadonlyMap<string, number>;
}

/** Opens `/` over a slow connection, and waits for the key field. */
async function view({ page }: OpenPage, url: string): Promise<View> {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  const start = performance.now();
  await page.goto(url);
  await page.getByLabel('API key').waitFor();
  const milliseconds = performance.now() - start;
  const entries = await page.evaluate<[url: string, bytes: number][]>(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
       .map(({ name, transferSize }) => [name, transferSize])`,
  );
  const sent = entries.filter(([, bytes]) => bytes > 0); // 0: from the browser's cache
  return { milliseconds, requests: new Map(sent.map(([name, bytes]) => [new URL(name).pathname, bytes])) };
}

test('the key field stands after five requests at most, and a second view loads no file again', async () => {
  await using open = await openPage('/healthz');
  const url = new URL('/', open.page.url()).href;
  const first = await view(open, url);
  const second = await view(open, url);
  for (const [name, { milliseconds, requests }] of Object.entries({ first, second })) {
    const bytes = [...requests.values()].reduce((sum, size) => sum + size, 0);
    console.info(
      `${name} view at ${LATENCY_MS} ms: ${requests.size} requests, ${bytes} bytes, key field after ${Math.round(milliseconds)} ms`,
    );
  }
  expect(first.requests.size).toBeLessThanOrEqual(5);
  expect([...second.requests.keys()]).toEqual(['/']);
  expect(open.problems).toEqual([]);
});

test('the scripts and style sheets of each page take less than 70 kB, compressed', async () => {
  const files = (await readdir(FOLDER, { recursive: true })).filter((name) => /\.(js|css)$/.test(name));
  for (const folder of ['home/', 'reference/']) {
    const own = files.filter((name) => name.startsWith(folder));
    expect(own).toHaveLength(2);
    const contents = await Promise.all(own.map((name) => readFile(new URL(name, FOLDER))));
    const bytes = contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
    console.info(`${folder} ${bytes} bytes`);
    expect(bytes).toBeLessThan(MOST_BYTES);
  }
});
