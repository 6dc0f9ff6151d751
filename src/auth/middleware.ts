import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../http/context.ts';
import type { StoredApiKey } from '../db/accounts.ts';
import { invalidToken, tooManyFailures, tooManyRequests } from '../http/errors.ts';
import { hashApiKey, isWellFormedApiKey } from './api-key.ts';
import { KeyCache, hasExpired } from './key-cache.ts';
import { addressOf, isAllowed } from './rate-limits.ts';

/** RFC 6750 section 2.1: the scheme, whose case does not matter (RFC 9110 section 11.1), one or more spaces, the token. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Lets a request pass whose `Authorization` holds a key that was issued, is not revoked and has not expired, and notes
 * the account it belongs to.
 *
 * @throws ApiError 401, the same for every reason
 * @throws ApiError 429 when the key, or the address as the source of invalid keys, has sent too many requests
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
  const key = await findKey(c, cache, address);
  if (!key) throw (await isAllowed(c.env.FAILURE_LIMIT, address, requestId)) ? invalidToken() : tooManyFailures();
  stats.accountId = key.accountId;
  stats.keyId = key.keyId;
  if (!(await isAllowed(c.env.KEY_LIMIT, key.keyId, requestId))) throw tooManyRequests();
  return key;
}

async function findKey(c: Context<AppEnv>, cache: KeyCache, address: string): Promise<StoredApiKey | undefined> {
  const token = BEARER.exec(c.req.header('Authorization') ?? '')?.[1];
  if (!token || !isWellFormedApiKey(token)) return undefined;

  const defer = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  const { db, requestId, stats } = c.var;
  const inquiry = { cache: c.env.API_KEYS, db, address, defer, requestId, stats };
  const key = await cache.find(await hashApiKey(token), inquiry);
  return key && !hasExpired(key) ? key : undefined;
}
