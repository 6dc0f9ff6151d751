import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ROOT, WRANGLER, WRANGLER_ENV } from '../wrangler.ts';
import { type Target, configPath } from './config.ts';

/** Runs `wrangler deploy` on this terminal. @returns its exit status */
export async function deploy(target: Target): Promise<number> {
  const env = {
    ...process.env,
    ...WRANGLER_ENV,
    CI: process.env['CI'], // wrangler may prompt
    DATABASE_URL: undefined, // the owner's URL, which a deployment does not need
  };
  const child = spawn(process.execPath, [WRANGLER, 'deploy', `--env=${target.env}`, `--config=${configPath(target)}`], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
  await once(child, 'close');
  return child.exitCode ?? 1;
}
