import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Target, configPath } from './config.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const wrangler = fileURLToPath(new URL('../../node_modules/wrangler/bin/wrangler.js', import.meta.url));

/** Runs `wrangler deploy`, which speaks to the person at the terminal. @returns its exit status */
export async function deploy(target: Target): Promise<number> {
  // Without DATABASE_URL, which is the owner's: nothing of a deployment needs it.
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', DATABASE_URL: undefined };
  const child = spawn(process.execPath, [wrangler, 'deploy', `--env=${target.env}`, `--config=${configPath(target)}`], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  await once(child, 'close');
  return child.exitCode ?? 1;
}
