import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { ping } from '../db/health.ts';

/** GET /healthz: 200 when the database answers, 503 when it does not. For load balancers and start scripts; no key. */
export async function getHealth(c: Context<AppEnv>): Promise<Response> {
  await ping(c.var.db, c.var.signal);
  return c.json({ status: 'ok' });
}
