import { reasonOf } from '../command.ts';
import { runWrangler } from '../keys/wrangler.ts';
import { type Target, configPath } from './config.ts';

/**
 * Whether wrangler may act for somebody at Cloudflare, and the Worker there has its secrets. Their values cannot be read.
 *
 * @param secrets the names of those it needs
 * @param logFolder where wrangler's log files go
 */
export async function cloudflareProblems(
  target: Target,
  secrets: readonly string[],
  logFolder: string,
): Promise<string[]> {
  const options = { logFolder, logLevel: 'log' };
  try {
    await runWrangler(['whoami', '--json'], options);
  } catch (error) {
    const reason = reasonOf(error);
    return [
      reason === 'wrangler failed'
        ? 'wrangler is not logged in; "npx wrangler login" or CLOUDFLARE_API_TOKEN does it'
        : `Cloudflare does not say who you are (${reason}); see "npx wrangler whoami"`,
    ];
  }

  const at = [`--env=${target.env}`, `--config=${configPath(target)}`];
  let found: string[];
  try {
    found = namesIn(await runWrangler(['secret', 'list', '--format=json', ...at], options));
  } catch (error) {
    // 10007: there is no such Worker yet.
    const reason = reasonOf(error);
    if (!reason.includes('10007') && !/Worker .* not found/i.test(reason))
      return [
        `The secrets of the environment cannot be listed (${reason}); see "npx wrangler secret list --env ${target.env}"`,
      ];
    found = [];
  }
  return secrets
    .filter((name) => !found.includes(name))
    .map((name) => `The secret ${name} is not set; "npx wrangler secret put ${name} --env ${target.env}" sets it`);
}

/** The names in what `wrangler secret list` prints: a JSON array of objects, which other lines may stand before. */
export function namesIn(output: string): string[] {
  const json = /^\[[^]*\]\s*$/m.exec(output)?.[0] ?? '[]';
  return (JSON.parse(json) as { name: string }[]).map(({ name }) => name);
}
