import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { UserError } from '../command.ts';
import { WRANGLER, WRANGLER_ENV } from '../wrangler.ts';
import { withoutSecrets } from '../../src/http/secrets.ts';
import { printable } from './printable.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const TIMEOUT_MS = 60_000;
const MAX_REASON = 200;

/**
 * Runs wrangler with the project's wrangler.toml, without showing its output. Arguments are visible in process lists, so pass
 * secrets in files.
 *
 * @param options.logFolder for wrangler's log files
 * @param options.signal ends wrangler and its child processes
 * @param options.logLevel wrangler prints some results only at the level `log`
 * @returns its stdout
 * @throws UserError with a short reason, without keys or hashes, if it fails, takes too long or is ended
 */
export async function runWrangler(
  args: readonly string[],
  {
    logFolder,
    signal,
    timeoutMs = TIMEOUT_MS,
    logLevel = 'warn',
  }: { logFolder: string; signal?: AbortSignal; timeoutMs?: number; logLevel?: string },
): Promise<string> {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: root,
    env: { ...process.env, ...WRANGLER_ENV, WRANGLER_LOG: logLevel, WRANGLER_LOG_PATH: logFolder },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a new process group, so that child processes can be ended with it
  });
  let output = '';
  let stdout = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  child.stdout.on('data', (text) => (stdout += text));

  let endedFor: string | undefined;
  const end = (reason: string) => {
    endedFor ??= reason;
    endGroup(child.pid);
  };
  const interrupt = () => end('interrupted');
  const timer = setTimeout(end, timeoutMs, `wrangler took longer than ${timeoutMs / 1000} s`);
  signal?.addEventListener('abort', interrupt);
  if (signal?.aborted) interrupt();
  try {
    await once(child, 'close');
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', interrupt);
  }
  if (endedFor !== undefined) throw new UserError(endedFor);
  const text = stripVTControlCharacters(output);
  if (child.exitCode !== 0 || UNKNOWN_ENVIRONMENT.test(text)) throw new UserError(reasonFrom(text));
  return stripVTControlCharacters(stdout);
}

/** wrangler only warns about an unknown environment, and continues with the wrong namespace. */
const UNKNOWN_ENVIRONMENT = /No environment found in configuration[^\n]*/;

/** The message of Cloudflare's API, or else the first sentence of wrangler's error. */
function reasonFrom(text: string): string {
  if (text.includes('necessary to set a CLOUDFLARE_API_TOKEN'))
    return 'wrangler is not logged in: run "npx wrangler login" or set CLOUDFLARE_API_TOKEN';
  const environment = UNKNOWN_ENVIRONMENT.exec(text)?.[0];
  const detail = /^.*\[code: \d+\]/m.exec(text)?.[0].trim();
  const error = /\[ERROR\]\s*(.+?)(\.\s|$)/m.exec(text)?.[1];
  const reason = environment ?? (detail && `Cloudflare: ${detail}`) ?? error ?? 'wrangler failed';
  return printable(withoutSecrets(reason)).replace(/\.$/, '').slice(0, MAX_REASON);
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
