import type { Context, MiddlewareHandler } from 'hono';
import type { StoredApiKey } from '../db/accounts.ts';
import type { AppEnv } from '../http/context.ts';
import { invalidToken, tooManyFailures, tooManyRequests } from '../http/errors.ts';
import { hashApiKey, isWellFormedApiKey } from './api-key.ts';
import { KeyCache } from './key-cache.ts';
import { addressOf, enforceLimit } from './rate-limits.ts';

/** RFC 6750 section 2.1: the scheme, in any case (RFC 9110 section 11.1), one or more spaces, the token. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Requires a key that was issued, is not revoked and has not expired, and sets `account` to the account it belongs to.
 *
 * @throws ApiError 401, the same for every reason
 * @throws ApiError 429 if the key has reached its limit, or the address its limit for keys that are invalid or not cached
 */
export function authenticate(): MiddlewareHandler<AppEnv> {
  const cache = new KeyCache();
  return async function authenticateByApiKey(c, next) {
    const key = await c.var.stats.timeAuth(() => admit(c, cache));
    c.set('account', { id: key.accountId, email: key.email });
    await next();
  };
}

async function admit(c: Context<AppEnv>, cache: KeyCache): Promise<StoredApiKey> {
  const { requestId, stats } = c.var;
  const address = addressOf(c.req.raw.headers);
  let counted: Promise<void> | undefined;
  const countFailure = () => (counted ??= enforceLimit(c.env.FAILURE_LIMIT, address, requestId, tooManyFailures));

  const key = await findKey(c, cache, countFailure);
  if (!key) {
    await countFailure();
    throw invalidToken();
  }
  stats.accountId = key.accountId;
  stats.keyId = key.keyId;
  await enforceLimit(c.env.KEY_LIMIT, key.keyId, requestId, tooManyRequests);
  return key;
}

async function findKey(
  c: Context<AppEnv>,
  cache: KeyCache,
  countFailure: () => Promise<void>,
): Promise<StoredApiKey | undefined> {
  const token = BEARER.exec(c.req.header('Authorization') ?? '')?.[1];
  if (!token || !isWellFormedApiKey(token)) return undefined;
  const { db, requestId, stats } = c.var;
  const defer = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  return cache.find(await hashApiKey(token), { kv: c.env.API_KEYS, db, requestId, stats, defer, countFailure });
}
