import type { Context, MiddlewareHandler } from 'hono';
import { type StoredApiKey, findApiKey } from '../db/accounts.ts';
import { DatabaseError } from '../db/errors.ts';
import type { AppEnv } from '../http/context.ts';
import {
  RATE_LIMIT_POLICY,
  invalidToken,
  revokedKey,
  tooManyFailures,
  tooManyRequests,
} from '../http/errors.ts';
import { hasKeyShape, hashApiKey, isLimitedApiKey, isWellFormedApiKey } from './api-key.ts';
import { KeyCache, type KeyRequest } from './key-cache.ts';
import { addressOf, enforceLimit } from './rate-limits.ts';

/**
 * The scheme, in any case (RFC 9110 section 11.1), one or more spaces, and a token (RFC 6750
 * section 2.1), or base64 (RFC 7617).
 */
const CREDENTIALS = /^(bearer|basic) +([\w.~+/-]+=*) *$/i;

/** How often a request checks that its key is still valid, in milliseconds. */
const CHECK_MS = 10_000;
/**
 * A request reads KV for at most so many of these checks, and then the database: it may use KV
 * 1,000 times. https://developers.cloudflare.com/kv/platform/limits/
 */
const MAX_KV_CHECKS = 900;

/** What is counted of a lookup. */
type Counted = Pick<KeyRequest, 'stats' | 'address' | 'countFailure'>;

/** These checks do not count as requests. */
const notCounted: Counted = {
  stats: { keyCache: null },
  address: '',
  countFailure: async () => {},
};

/**
 * Requires a key that was issued, is not revoked and has not expired, and sets `account` to the
 * account it belongs to. Repeats the check until the request ends, even while it waits for the
 * database or its client, and aborts the request's work with {@link revokedKey} once the key is
 * refused.
 *
 * @throws ApiError 401, the same for every reason
 * @throws ApiError 429 if the account has reached its limit, or the address its limit for keys that
 * are invalid or not cached
 */
export function authenticate(): MiddlewareHandler<AppEnv> {
  const cache = new KeyCache();
  return async function authenticateByApiKey(c, next) {
    const { connection: db, requestAbort, requestId, stats } = c.var;
    const token = tokenIn(c.req.header('Authorization') ?? '');
    const hash = isWellFormedApiKey(token) ? await hashApiKey(token) : '';
    const defer = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    const request = { kv: c.env.API_KEYS, db, requestId, defer };

    const isLimited = isLimitedApiKey(token);
    const ifAsIssued = (key: StoredApiKey | undefined) =>
      key && (key.limits !== null) === isLimited ? key : undefined;
    const findKey = async (counted: Counted) => {
      if (hash === '') return undefined;
      return ifAsIssued(await cache.find(hash, { ...request, ...counted }));
    };
    await stats.auth.time(() => authenticateRequest(c, findKey));

    let checks = 0;
    const check = async () => {
      checks++;
      try {
        const key =
          checks > MAX_KV_CHECKS
            ? ifAsIssued(await findApiKey(db, hash))
            : await findKey(notCounted);
        if (!key) throw revokedKey();
      } catch (error) {
        // an outage of the database ends no request
        if (!(error instanceof DatabaseError)) requestAbort.abort(error);
      }
    };
    const timer = setInterval(() => void check(), CHECK_MS);

    try {
      await next();
    } finally {
      void Promise.resolve(stats.transfer).finally(() => clearInterval(timer));
    }
  };
}

/**
 * The key in the header `Authorization`: the token of `Bearer`, or the password of `Basic`, or its
 * user name if the password does not have a key's shape. Excel, Power BI and `curl -u` keep such
 * credentials where they cannot set a header.
 */
function tokenIn(authorization: string): string {
  const [, scheme = '', credentials = ''] = CREDENTIALS.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return credentials;

  try {
    const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(atob(credentials)) ?? [];
    return hasKeyShape(password) ? password : user;
  } catch {
    return ''; // it is not base64
  }
}

/** @param findKey finds the account of the request's key */
async function authenticateRequest(
  c: Context<AppEnv>,
  findKey: (counted: Counted) => Promise<StoredApiKey | undefined>,
): Promise<void> {
  const { requestId, stats } = c.var;
  const address = addressOf(c.req.raw.headers);
  let counted: Promise<void> | undefined;
  const countFailure = () =>
    (counted ??= enforceLimit(c.env.FAILURE_LIMIT, address, requestId, tooManyFailures));

  const key = await findKey({ stats, address, countFailure });
  if (!key) {
    await countFailure();
    throw invalidToken(c.req.header('Authorization') !== undefined);
  }

  const { accountId: id, limits } = key;
  const countedAs = limits ? `${id} limited` : id;
  c.set('account', { ...key, id, countedAs });
  c.header('RateLimit-Policy', RATE_LIMIT_POLICY);
  await enforceLimit(c.env.ACCOUNT_LIMIT, countedAs, requestId, tooManyRequests);
}
