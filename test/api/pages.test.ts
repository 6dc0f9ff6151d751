import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fetchService, errorBody, origin } from '../support/api.ts';

test.each(['/', '/docs'])('%s and all files that it loads need no key', async (path) => {
  const page = await fetchService(path);
  expect(page.status).toBe(200);
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');

  const queue = [...page.text.matchAll(/(?:href|src)="(\/pages\/[^"]+)"/g)].map(([, file]) => file ?? '');
  const found = new Map<string, string | null>();
  let compressed = gzipSync(page.bytes).length;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    const file = await fetchService(next);
    expect([next, file.status]).toEqual([next, 200]);
    found.set(next, file.headers.get('Content-Type'));
    compressed += gzipSync(file.bytes).length;
    const imports = file.text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g);
    queue.push(...[...imports].map(([, name = '']) => new URL(name, `${origin()}${next}`).pathname));
  }
  expect(found.get('/pages/shared/base.css')).toBe('text/css; charset=utf-8');
  expect(found.get('/pages/shared/icon.svg')).toBe('image/svg+xml');
  expect([...found.values()].filter((type) => type === 'text/javascript; charset=utf-8').length).toBeGreaterThan(5);
  expect(compressed).toBeLessThan(60_000);
});

test('the content security policy allows the page its own files only, and other responses nothing', async () => {
  const policyOf = async (path: string) => (await fetchService(path)).headers.get('Content-Security-Policy');
  const directives = (await policyOf('/'))?.split('; ') ?? [];
  expect(await policyOf('/docs')).toBe(directives.join('; '));
  expect(directives).toContain("default-src 'none'");
  expect(directives).toContain("script-src 'self'");
  expect(directives.join('; ')).not.toMatch(/unsafe|data:|https?:|\*/);
  for (const path of ['/openapi.json', '/healthz', '/api/v1/surveys', '/nowhere']) {
    expect(await policyOf(path)).toBe("default-src 'none'; frame-ancestors 'none'");
  }
});

test('/docs/ is the same page', async () => {
  const [page, other] = [await fetchService('/docs'), await fetchService('/docs/')];
  expect([other.status, other.text]).toEqual([200, page.text]);
  expect(other.headers.get('Content-Security-Policy')).toBe(page.headers.get('Content-Security-Policy'));
});

test.each(['/docs', '/', '/pages/home/main.mjs', '/openapi.json', '/healthz'])(
  '%s allows GET and HEAD only',
  async (path) => {
    const [get, head] = [await fetchService(path), await fetchService(path, { method: 'HEAD' })];
    expect([head.status, head.bytes.length]).toEqual([get.status, 0]);
    expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
    const post = await fetchService(path, { method: 'POST' });
    expect([post.status, post.text]).toEqual([405, errorBody('Method not allowed: use GET or HEAD.')]);
    expect(post.headers.get('Allow')).toBe('GET, HEAD');
  },
);
