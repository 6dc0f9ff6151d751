import { expect, test } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };

interface Package {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly license?: string;
}

/** Licences that require attribution at most. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
]);

/** Development tools under other licences. They are not distributed. */
const EXEMPT = [
  /^@img\/sharp-/, // LGPL-3.0-or-later: libvips, used by miniflare
  /^axe-core$/, // MPL-2.0: accessibility tests
  /^lightningcss/, // MPL-2.0: used by vitest through vite
];

test('every package in the lock file has a SHA-512, no origin but the registry, and a permissive licence unless it is exempt', () => {
  const { '': _project, ...packages } = lock.packages as unknown as Record<string, Package>;
  const bad = Object.entries(packages).filter(
    ([path, { resolved, link, integrity, license = 'none' }]) => {
      const name = path.replace(/^.*node_modules\//, '');
      const isAllowed = ALLOWED.has(license) || EXEMPT.some((pattern) => pattern.test(name));
      return resolved || link || !integrity?.startsWith('sha512-') || !isAllowed;
    },
  );
  expect(bad).toEqual([]);
});
