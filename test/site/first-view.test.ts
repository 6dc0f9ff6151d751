import { readFile, readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openPage } from './browser.ts';

const FOLDER = new URL('../../site/dist/assets/', import.meta.url);
/** Compressed with gzip. */
const MOST_BYTES = 70_000;

test('the key field stands after five requests at most, and a second view loads no file again', async () => {
  const page = await openPage('/');
  /** The paths of what the view has requested from the service. */
  const requested = async () => {
    await page.getByLabel('API key').waitFor();
    return page.evaluate<string[]>(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
         .filter(({ transferSize }) => transferSize > 0) // 0: from the browser's cache
         .map(({ name }) => new URL(name).pathname)`,
    );
  };
  expect((await requested()).length).toBeLessThanOrEqual(5);
  await page.goto(page.url());
  expect(await requested()).toEqual(['/']);
});

test('the scripts and style sheets of each page take less than 70 kB, compressed', async () => {
  const files = (await readdir(FOLDER, { recursive: true })).filter((name) => /\.(js|css)$/.test(name));
  for (const folder of ['home/', 'reference/']) {
    const own = files.filter((name) => name.startsWith(folder));
    expect(own).toHaveLength(2);
    const contents = await Promise.all(own.map((name) => readFile(new URL(name, FOLDER))));
    const bytes = contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
  }
});
