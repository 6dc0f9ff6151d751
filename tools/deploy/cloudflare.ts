import { messageOf } from '../command.ts';
import { runWrangler } from '../keys/wrangler.ts';
import { type Target, configPath } from './config.ts';

/**
 * Checks that wrangler is logged in to Cloudflare and that the Worker has its secrets. Their values cannot be read.
 *
 * @param secrets names of the required secrets
 */
export async function cloudflareProblems(target: Target, secrets: readonly string[]): Promise<string[]> {
  const args = ['secret', 'list', '--format=json', `--env=${target.env}`, `--config=${configPath(target)}`];
  let found: string[] = [];
  try {
    found = namesIn(await runWrangler(args, { logLevel: 'log' }));
  } catch (error) {
    const reason = messageOf(error);
    if (reason.startsWith('wrangler is not logged in')) return [reason];
    const hasNoWorker = reason.includes('10007') || /Worker .* not found/i.test(reason); // 10007: before its first deployment
    if (!hasNoWorker)
      return [
        `Cannot list the secrets of the environment (${reason}); see "npx wrangler secret list --env ${target.env}"`,
      ];
  }
  return secrets
    .filter((name) => !found.includes(name))
    .map((name) => `The secret ${name} is not set; run "npx wrangler secret put ${name} --env ${target.env}"`);
}

/** The names in the output of `wrangler secret list`: a JSON array of objects, possibly after warnings. */
export function namesIn(output: string): string[] {
  const json = /^\[[^]*\]\s*$/m.exec(output)?.[0] ?? '[]';
  return (JSON.parse(json) as { name: string }[]).map(({ name }) => name);
}
