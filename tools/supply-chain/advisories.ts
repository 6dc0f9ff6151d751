import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What the registry knows against the packages of the lock file, one line each; or why it could not be asked. */
export type Advisories = { readonly found: readonly string[] } | { readonly unavailable: string };

const root = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 60_000;

/** Asks npm's registry by `npm audit`. */
export async function readAdvisories(): Promise<Advisories> {
  const windows = process.platform === 'win32';
  const child = spawn('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
    shell: windows,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  try {
    await once(child, 'close');
  } catch (error) {
    return { unavailable: String(error) };
  }
  return advisoriesIn(output);
}

interface Report {
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
}

interface Vulnerability {
  readonly severity: string;
  /** A text is the name of another package that this one is affected by. */
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

/**
 * Reads what `npm audit --json` prints. Only a report that has a list of vulnerabilities counts as one: npm prints JSON for
 * a registry that refused to answer as well.
 */
export function advisoriesIn(output: string): Advisories {
  let report: Report;
  try {
    report = JSON.parse(output) as Report;
  } catch {
    return { unavailable: 'npm audit printed no report' };
  }
  if (!report.vulnerabilities)
    return { unavailable: report.message ?? (report.error?.summary || 'npm audit printed no report') };
  const found = Object.entries(report.vulnerabilities).flatMap(([name, { severity, via }]) =>
    via.flatMap((cause) => (typeof cause === 'string' ? [] : [`${name}: ${cause.title} (${severity}), ${cause.url}`])),
  );
  return { found };
}
