import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BUNDLED, bundledProblems, packagesIn } from '../../tools/supply-chain/bundled.ts';
import { licenceProblems, lockFileProblems, readAdvisories } from '../../tools/supply-chain/checks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-supply-chain-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the lock file', () => {
  test("of the project has hashes, and no origin but npm's registry", async () => {
    expect(await lockFileProblems(root)).toEqual([]);
  });

  test.each([
    ['without a hash', { integrity: undefined }],
    ['with a weak hash', { integrity: 'sha1-abc=' }],
    ['from another host', { resolved: 'https://registry.npmjs.org.example.org/hono/-/hono-1.0.0.tgz' }],
    ['over plain HTTP', { resolved: 'http://registry.npmjs.org/hono/-/hono-1.0.0.tgz' }],
    ['from a git repository', { resolved: 'git+ssh://git@github.com/honojs/hono.git#abc' }],
    ['that links to a folder', { resolved: '../hono', link: true, integrity: undefined }],
  ])('must not have a package %s', async (_, change) => {
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, object>;
    };
    Object.assign(lock.packages['node_modules/hono'] ?? {}, change);
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
    expect(await lockFileProblems(folder)).toEqual([expect.stringContaining('hono')]);
  });
});

describe('licences', () => {
  test('reports packages whose licence is not allowed', async () => {
    const licences = {
      mit: 'MIT',
      either: '(MIT OR GPL-3.0)',
      gpl: 'GPL-3.0',
      both: 'MIT AND GPL-3.0',
      unnamed: undefined,
      'lightningcss-linux-x64-gnu': 'MPL-2.0',
      'other-css': 'MPL-2.0',
    };
    await writeFile(join(folder, 'package.json'), '{"name":"test","version":"1.0.0","private":true}');
    for (const [name, license] of Object.entries(licences)) {
      const path = join(folder, 'node_modules', name);
      await mkdir(path, { recursive: true });
      await writeFile(join(path, 'package.json'), JSON.stringify({ name, version: '1.0.0', license }));
    }
    expect(await licenceProblems(folder)).toEqual(
      ['both', 'gpl', 'other-css', 'unnamed'].map((name) => expect.stringMatching(`^${name}@`)),
    );
  });
});

describe('the packages in the Worker', () => {
  test('are those whose files are in the bundle', () => {
    const paths = [
      'src/app.ts',
      'node_modules/hono/dist/a.js',
      '../x/node_modules/a/node_modules/@b/c/d.js',
      'node_modules/hono/b.js',
    ];
    expect(packagesIn(paths)).toEqual(['@b/c', 'hono']);
  });

  test('must be exactly those listed', () => {
    expect(bundledProblems(BUNDLED)).toEqual([]);
    expect(bundledProblems([...BUNDLED, 'yaml'])).toEqual([expect.stringContaining('yaml is now bundled')]);
    expect(bundledProblems(BUNDLED.slice(1))).toEqual([expect.stringContaining('no longer bundled')]);
  });
});

describe('advisories', () => {
  const advisory = {
    ...{ id: 1, url: 'https://github.com/advisories/GHSA-1', title: 'It leaks', severity: 'high' },
    ...{ vulnerable_versions: '*', cwe: [], cvss: { score: 0, vectorString: '' } },
  };

  test.each([
    ['none', 200, {}, { found: [] }],
    ['one', 200, { hono: [advisory] }, { found: ['hono: It leaks (high), https://github.com/advisories/GHSA-1'] }],
    ['an error', 405, {}, { unavailable: expect.stringContaining('405') }],
  ])('of a registry that returns %s', async (_, status, body, expected) => {
    await writeFile(join(folder, 'package.json'), '{"name":"test","dependencies":{"hono":"4.0.0"}}');
    const packages = { '': { dependencies: { hono: '4.0.0' } }, 'node_modules/hono': { version: '4.0.0' } };
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
    const version = { name: 'hono', version: '4.0.0' };
    const metadata = { name: 'hono', 'dist-tags': { latest: '4.0.0' }, versions: { '4.0.0': version } };
    const registry = createServer((request, response) => {
      request.resume();
      const isAudit = request.method === 'POST';
      response.writeHead(isAudit ? status : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(isAudit ? body : metadata));
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(registry.address() as AddressInfo).port}`);
    try {
      expect(await readAdvisories(folder)).toEqual(expected);
    } finally {
      vi.unstubAllEnvs();
      registry.close();
      registry.closeAllConnections();
    }
  });
});
