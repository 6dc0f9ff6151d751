import { expect, test } from 'vitest';
import { type OpenPage, openPage } from './browser.ts';

const LATENCY_MS = 300;

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
