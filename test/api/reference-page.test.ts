import { expect, test } from 'vitest';
import { fetchService, errorBody } from '../support/api.ts';

test('/docs and all files that it loads need no key', async () => {
  const page = await fetchService('/docs');
  expect(page.status).toBe(200);
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');

  const queue = [...page.text.matchAll(/(?:href|src)="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? '');
  const found = new Map<string, string | null>();
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    const file = await fetchService(path);
    expect([path, file.status]).toEqual([path, 200]);
    found.set(path, file.headers.get('Content-Type'));
    queue.push(...[...file.text.matchAll(/ from '\.(\/[^']+)'/g)].map(([, name]) => `/docs${name}`));
  }
  expect(found.get('/docs/page.css')).toBe('text/css; charset=utf-8');
  expect(found.get('/docs/icon.svg')).toBe('image/svg+xml');
  expect([...found.values()].filter((type) => type === 'text/javascript; charset=utf-8').length).toBeGreaterThan(5);
});

test('the content security policy allows the page its own files only, and other responses nothing', async () => {
  const policyOf = async (path: string) => (await fetchService(path)).headers.get('Content-Security-Policy');
  const directives = (await policyOf('/docs'))?.split('; ') ?? [];
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

test.each(['/docs', '/docs/main.mjs', '/openapi.json', '/healthz'])('%s allows GET and HEAD only', async (path) => {
  const [get, head] = [await fetchService(path), await fetchService(path, { method: 'HEAD' })];
  expect([head.status, head.bytes.length]).toEqual([get.status, 0]);
  expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
  const post = await fetchService(path, { method: 'POST' });
  expect([post.status, post.text]).toEqual([405, errorBody('Method not allowed: use GET or HEAD.')]);
  expect(post.headers.get('Allow')).toBe('GET, HEAD');
});
