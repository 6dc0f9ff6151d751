import { expect, test } from 'vitest';
import { askAnywhere, errorBody } from '../support/api.ts';

test('/docs and all files it loads need no key', async () => {
  const page = await askAnywhere('/docs');
  expect(page.status).toBe(200);
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');

  const waiting = [...page.text.matchAll(/(?:href|src)="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? '');
  const found = new Map<string, string | null>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const file = await askAnywhere(path);
    expect([path, file.status]).toEqual([path, 200]);
    found.set(path, file.headers.get('Content-Type'));
    waiting.push(...[...file.text.matchAll(/ from '\.(\/[^']+)'/g)].map(([, name]) => `/docs${name}`));
  }
  expect(found.get('/docs/page.css')).toBe('text/css; charset=utf-8');
  expect(found.get('/docs/icon.svg')).toBe('image/svg+xml');
  expect([...found.values()].filter((type) => type === 'text/javascript; charset=utf-8').length).toBeGreaterThan(5);
});

test('the policy lets the page load its own files only, and other bodies nothing', async () => {
  const policyOf = async (path: string) => (await askAnywhere(path)).headers.get('Content-Security-Policy');
  const directives = (await policyOf('/docs'))?.split('; ') ?? [];
  expect(directives).toContain("default-src 'none'");
  expect(directives).toContain("script-src 'self'");
  expect(directives.join('; ')).not.toMatch(/unsafe|data:|https?:|\*/);
  for (const path of ['/openapi.json', '/healthz', '/api/v1/surveys', '/nowhere']) {
    expect(await policyOf(path)).toBe("default-src 'none'; frame-ancestors 'none'");
  }
});

test.each(['/docs', '/docs/main.mjs', '/openapi.json', '/healthz'])('%s allows GET and HEAD only', async (path) => {
  const [get, head] = [await askAnywhere(path), await askAnywhere(path, { method: 'HEAD' })];
  expect([head.status, head.bytes.length]).toEqual([get.status, 0]);
  expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
  const post = await askAnywhere(path, { method: 'POST' });
  expect([post.status, post.text]).toEqual([405, errorBody('Method not allowed: use GET or HEAD.')]);
  expect(post.headers.get('Allow')).toBe('GET, HEAD');
});
