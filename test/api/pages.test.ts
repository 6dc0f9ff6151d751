import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fetchService } from '../support/api.ts';

/** Built when the service was bundled. */
const DIST = fileURLToPath(new URL('../../site/dist', import.meta.url));
/** The paths and names of the files that are served: all but `_headers`. */
const files = (await readdir(DIST, { recursive: true }))
  .filter((name) => name.includes('.'))
  .map((name): [string, string] => [
    `/${name.replace(/^index\.html$|(?<=\/)index\.html$|\.html$/, '')}`,
    name,
  ]);

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  map: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

test('the pages are /, /docs and /docs/', () => {
  const pages = files.filter(([, name]) => name.endsWith('.html')).map(([path]) => path);
  expect(pages.toSorted()).toEqual(['/', '/docs', '/docs/']);
});

test.each([
  ['home', 34],
  ['reference', 500],
])(
  'the script and the style sheet of %s take less than %d kB, compressed',
  async (page, kilobytes) => {
    const own = files.filter(
      ([, name]) => name.startsWith(`assets/${page}/`) && /\.(js|css)$/.test(name),
    );
    expect(own).toHaveLength(2);
    const contents = await Promise.all(own.map(([, name]) => readFile(join(DIST, name))));
    expect(contents.reduce((sum, content) => sum + gzipSync(content).length, 0)).toBeLessThan(
      kilobytes * 1000,
    );
  },
);

test.each(files)('%s is the built file, with the headers of site/_headers', async (path, name) => {
  const file = await fetchService(path);
  expect(file.status).toBe(200);
  expect(file.bytes.equals(await readFile(join(DIST, name)))).toBe(true);
  expect(file.headers.get('Content-Type')).toBe(TYPES[name.split('.').at(-1) ?? '']);
  expect(file.headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(file.headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(file.headers.get('Content-Security-Policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  );
  const isHashed = path.startsWith('/assets/');
  expect(file.headers.get('Cache-Control')).toBe(
    isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate',
  );

  const head = await fetchService(path, { method: 'HEAD' });
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
  const etag = file.headers.get('ETag') ?? '';
  expect((await fetchService(path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
  expect((await fetchService(path, { method: 'POST' })).status).toBe(405);
});
