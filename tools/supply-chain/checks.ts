import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const TIMEOUT_MS = 60_000;

/** Licences that require attribution at most. */
const ALLOWED_LICENCES = [
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'CC-BY-3.0'],
  ...['ISC', 'MIT', 'Python-2.0'],
];

/** Development tools under other licences, by the start of their names. They are not distributed. */
const EXEMPT = [
  '@img/sharp-', // LGPL-3.0-or-later: libvips, used by miniflare
  'axe-core', // MPL-2.0: accessibility tests
  'lightningcss', // MPL-2.0: used by vitest through vite
];

/**
 * Checks with lockfile-lint that every package comes from npm's registry over HTTPS and has a SHA-512.
 *
 * @param folder of `package-lock.json`
 * @returns one message for each problem
 */
export async function lockFileProblems(folder: string): Promise<string[]> {
  const path = join(folder, 'package-lock.json');
  const lint = [join(modules, 'lockfile-lint/bin/lockfile-lint.js'), '--path', path, '--type', 'npm'];
  const rules = ['--validate-https', '--validate-integrity', '--validate-package-names', '--allowed-hosts', 'npm'];
  const { isSuccess, stdout, stderr } = await run(process.execPath, [...lint, ...rules, '--format', 'plain']);
  const { packages } = JSON.parse(await readFile(path, 'utf8')) as { packages: Record<string, { integrity?: string }> };
  // lockfile-lint accepts entries without a hash, such as links to a folder.
  const unhashed = Object.entries(packages).filter(([name, { integrity }]) => name !== '' && !integrity);
  return [
    ...(isSuccess ? [] : [`${stdout}${stderr}`.trim()]),
    ...unhashed.map(([name]) => `package-lock.json: ${name} has no integrity hash; install it from the registry again`),
  ];
}

/**
 * Checks the licences of the installed packages with license-checker.
 *
 * @param folder of `package.json` and `node_modules`
 * @returns one message for each package whose licence is not allowed
 */
export async function licenceProblems(folder: string): Promise<string[]> {
  const checker = [join(modules, 'license-checker-rseidelsohn/bin/license-checker-rseidelsohn.js'), '--start', folder];
  // Not --onlyAllow: it accepts "MIT AND GPL-3.0". --excludeLicenses evaluates SPDX expressions.
  const filters = ['--excludeLicenses', ALLOWED_LICENCES.join(), '--excludePackagesStartingWith', EXEMPT.join(';')];
  const args = [...checker, ...filters, '--excludePrivatePackages', '--json', '--limitAttributes', 'licenses'];
  const { isSuccess, stdout, stderr } = await run(process.execPath, args);
  if (!isSuccess) throw new Error(`license-checker failed: ${stderr}`);
  const refused = JSON.parse(stdout) as Record<string, { licenses: string }>;
  return Object.entries(refused).map(
    ([name, { licenses }]) => `${name}: the licence ${licenses} is not allowed by tools/supply-chain/checks.ts`,
  );
}

/** Published advisories about the locked packages, one line each, or why they could not be read. */
export type Advisories = { readonly found: readonly string[] } | { readonly unavailable: string };

interface AuditReport {
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
}

interface Vulnerability {
  readonly severity: string;
  /** A string names another package that passes its advisory on to this one. */
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

/** Runs `npm audit`. Some registries and mirrors have no advisories. */
export async function readAdvisories(folder: string): Promise<Advisories> {
  const { stdout } = await run('npm', ['audit', '--json', '--package-lock-only', '--prefix', folder]);
  let report: AuditReport = {};
  try {
    report = JSON.parse(stdout) as AuditReport;
  } catch {
    // npm failed before it printed JSON
  }
  // A failed audit prints JSON as well: only a list of vulnerabilities, even an empty one, is a result.
  if (!report.vulnerabilities)
    return { unavailable: report.message ?? (report.error?.summary || 'npm audit printed no report') };
  const found = Object.entries(report.vulnerabilities).flatMap(([name, { severity, via }]) =>
    via.flatMap((cause) => (typeof cause === 'string' ? [] : [`${name}: ${cause.title} (${severity}), ${cause.url}`])),
  );
  return { found };
}

interface Finished {
  readonly isSuccess: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(program: string, args: readonly string[]): Promise<Finished> {
  const shell = process.platform === 'win32'; // where npm is a batch file
  try {
    return { isSuccess: true, ...(await promisify(execFile)(program, args, { timeout: TIMEOUT_MS, shell })) };
  } catch (error) {
    const { stdout = '', stderr = String(error) } = error as Partial<Finished>;
    return { isSuccess: false, stdout, stderr };
  }
}
