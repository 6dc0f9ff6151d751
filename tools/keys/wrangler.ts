import { type ExecFileException, execFile } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { UserError } from '../command.ts';
import { ROOT, WRANGLER, WRANGLER_ENV } from '../wrangler.ts';
import { withoutSecrets } from '../../src/http/secrets.ts';
import { printable } from './printable.ts';

const TIMEOUT_MS = 60_000;
const MAX_REASON = 200;

/**
 * Runs wrangler with the project's wrangler.toml, without showing its output.
 *
 * @param options.logFolder for wrangler's log files; by default there are none
 * @param options.logLevel wrangler prints some results only at the level `log`
 * @returns its stdout
 * @throws UserError with a short reason, without keys or hashes, if it fails or takes too long
 */
export async function runWrangler(
  args: readonly string[],
  {
    logFolder,
    timeoutMs = TIMEOUT_MS,
    logLevel = 'warn',
  }: { logFolder?: string; timeoutMs?: number; logLevel?: string } = {},
): Promise<string> {
  const logs = logFolder === undefined ? { WRANGLER_WRITE_LOGS: 'false' } : { WRANGLER_LOG_PATH: logFolder };
  const env = { ...process.env, ...WRANGLER_ENV, ...logs, WRANGLER_LOG: logLevel };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], { cwd: ROOT, env, signal });
    return stripVTControlCharacters(stdout);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as Partial<ExecFileException>;
    throw new UserError(
      signal.aborted ? `wrangler took longer than ${timeoutMs / 1000} s` : reasonFrom(stdout + stderr),
    );
  }
}

/** The message of Cloudflare's API, or else the first sentence of wrangler's error. */
function reasonFrom(output: string): string {
  const text = stripVTControlCharacters(output);
  if (text.includes('necessary to set a CLOUDFLARE_API_TOKEN'))
    return 'wrangler is not logged in: run "npx wrangler login" or set CLOUDFLARE_API_TOKEN';
  const environment = /No environment found in configuration.*/.exec(text)?.[0];
  const detail = /^.*\[code: \d+\]/m.exec(text)?.[0].trim();
  const error = /\[ERROR\]\s*(.+?)(\.\s|$)/m.exec(text)?.[1];
  const reason = environment ?? (detail && `Cloudflare: ${detail}`) ?? error ?? 'wrangler failed';
  return printable(withoutSecrets(reason)).replace(/\.$/, '').slice(0, MAX_REASON);
}
