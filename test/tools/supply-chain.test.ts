import { describe, expect, test } from 'vitest';
import { advisoriesIn } from '../../tools/supply-chain/advisories.ts';
import { BUNDLED, bundledProblems, packagesIn } from '../../tools/supply-chain/bundled.ts';
import { licenceProblems } from '../../tools/supply-chain/licences.ts';
import { lockProblems } from '../../tools/supply-chain/lock-file.ts';
import { RUNTIME, manifestProblems } from '../../tools/supply-chain/manifest.ts';

const runtime = Object.fromEntries(Object.keys(RUNTIME).map((name) => [name, '1.2.3']));

describe('package.json', () => {
  test('with exact versions of known packages is in order', () => {
    expect(manifestProblems({ dependencies: runtime, devDependencies: { a: '4.0.0-beta.17' } })).toEqual([]);
  });

  test.each([
    '^1.2.3',
    '~1.2.3',
    '1.2',
    '*',
    'latest',
    '>=1.0.0',
    'npm:b@1.2.3',
    'github:a/b',
    'file:../a',
    'https://example.org/a.tgz',
  ])('with a version "%s" is not', (version) => {
    for (const kind of ['devDependencies', 'optionalDependencies'])
      expect(manifestProblems({ dependencies: runtime, [kind]: { a: version } })).toEqual([
        expect.stringContaining(`a is "${version}"`),
      ]);
  });

  test('with a runtime dependency that nobody gave a reason for is not, nor with one less', () => {
    expect(manifestProblems({ dependencies: { ...runtime, lodash: '1.2.3' } })).toEqual([
      expect.stringContaining('lodash'),
    ]);
    const { hono: _, ...others } = runtime;
    expect(manifestProblems({ dependencies: others })).toEqual([expect.stringContaining('hono')]);
  });
});

describe('the lock file', () => {
  const good = { integrity: 'sha512-abc=', license: 'MIT' };

  test.each([
    ['no hash', {}],
    ['a weak hash', { integrity: 'sha1-abc=' }],
    ['another origin', { ...good, resolved: 'https://example.org/a.tgz' }],
    ['an origin that looks like the registry', { ...good, resolved: 'https://registry.npmjs.org.example.org/a.tgz' }],
    ['a link', { ...good, link: true }],
  ])('with %s is reported', (_, entry) => {
    expect(lockProblems({ packages: { '': {}, 'node_modules/a': entry } })).toEqual([
      expect.stringContaining('node_modules/a '),
    ]);
  });

  test('with hashes, and the registry as the origin or none, is in order', () => {
    const resolved = 'https://registry.npmjs.org/b/-/b-1.0.0.tgz';
    expect(
      lockProblems({ packages: { '': {}, 'node_modules/a': good, 'node_modules/b': { ...good, resolved } } }),
    ).toEqual([]);
  });

  const licensed = (path: string, license?: string) => ({ packages: { '': {}, [path]: license ? { license } : {} } });

  test.each(['MIT', '0BSD', '(MIT OR GPL-3.0)', 'Apache-2.0 AND MIT'])('allows the licence %s', (license) => {
    expect(licenceProblems(licensed('node_modules/a', license), ['a'])).toEqual([]);
  });

  test.each([undefined, 'GPL-3.0', 'AGPL-3.0-only', 'MIT AND GPL-3.0', 'MPL-2.0', 'SEE LICENSE IN LICENSE'])(
    'reports the licence %s',
    (license) => {
      expect(licenceProblems(licensed('node_modules/b/node_modules/a', license), [])).toEqual([
        expect.stringMatching(/^a has/),
      ]);
    },
  );

  test('allows a known tool its own licence, but not in the Worker, and no other one', () => {
    const path = 'node_modules/lightningcss-linux-x64-gnu';
    expect(licenceProblems(licensed(path, 'MPL-2.0'), [])).toEqual([]);
    expect(licenceProblems(licensed(path, 'GPL-3.0'), [])).toHaveLength(1);
    expect(licenceProblems(licensed(path, 'MPL-2.0'), ['lightningcss-linux-x64-gnu'])).toHaveLength(1);
  });
});

describe('the bundle', () => {
  test('is made of the packages that its files lie in', () => {
    const paths = [
      'src/app.ts',
      'node_modules/hono/dist/a.js',
      '../x/node_modules/a/node_modules/@b/c/d.js',
      'node_modules/hono/b.js',
    ];
    expect(packagesIn(paths)).toEqual(['@b/c', 'hono']);
  });

  test('with a package more or less is reported', () => {
    expect(bundledProblems(BUNDLED)).toEqual([]);
    expect(bundledProblems([...BUNDLED, 'yaml'])).toEqual([expect.stringContaining('yaml is now part')]);
    expect(bundledProblems(BUNDLED.slice(1))).toEqual([expect.stringContaining('no longer part')]);
  });
});

describe('advisories', () => {
  test('are read with their severity and address, once', () => {
    const via = [{ title: 'It leaks', url: 'https://github.com/advisories/GHSA-1' }];
    const report = { vulnerabilities: { a: { severity: 'high', via }, b: { severity: 'high', via: ['a'] } } };
    expect(advisoriesIn(JSON.stringify(report))).toEqual({
      found: ['a: It leaks (high), https://github.com/advisories/GHSA-1'],
    });
  });

  test('may be none', () => {
    expect(advisoriesIn('{"auditReportVersion":2,"vulnerabilities":{}}')).toEqual({ found: [] });
  });

  test.each([
    ['nothing', '', 'npm audit printed no report'],
    ['a refusal', '{"message":"405 Method Not Allowed","error":{"summary":""}}', '405 Method Not Allowed'],
    ['an error', '{"error":{"code":"ENOTFOUND","summary":"no network"}}', 'no network'],
    ['something else', '{}', 'npm audit printed no report'],
  ])('are not "none" when npm prints %s', (_, output, reason) => {
    expect(advisoriesIn(output)).toEqual({ unavailable: reason });
  });
});
