import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { invalidToken } from '../errors.ts';
import { hashApiKey, isWellFormedApiKey } from './api-key.ts';
import { lookUpApiKey } from './key-cache.ts';

/** RFC 6750 section 2.1: the scheme, whose case does not matter (RFC 9110 section 11.1), one or more spaces, the token. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Lets a request pass whose `Authorization` holds a key that was issued, is not revoked and has not expired, and notes
 * the account it belongs to.
 *
 * @throws ApiError 401, the same for every reason
 */
export function authenticate(): MiddlewareHandler<AppEnv> {
  return async function authenticateByApiKey(c, next) {
    const key = BEARER.exec(c.req.header('Authorization') ?? '')?.[1];
    if (!key || !isWellFormedApiKey(key)) throw invalidToken();

    const defer = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    const { db, signal } = c.var;
    const stored = await lookUpApiKey(c.env.API_KEYS, db, await hashApiKey(key), signal, defer);
    if (!stored || (stored.expires !== null && stored.expires <= Date.now())) throw invalidToken();

    c.set('account', { id: stored.accountId, email: stored.email });
    await next();
  };
}
