import { expect, vi } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { startFaultyService } from '../faults/service.ts';
import { type ApiResponse, fetchApi } from '../support/api.ts';
import { createAccount, sql } from '../support/data.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import type { StackOptions } from '../support/stack.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const QUARTER = 15 * MINUTE;

/** The start of the next quarter of an hour, in milliseconds since 1970. */
export const nextQuarter = () => Date.now() - (Date.now() % QUARTER) + QUARTER;

/** Queries about keys since the count began. */
export interface KeyQueries {
  readonly lookups: number;
  /** Updates of when a key was last used. */
  readonly uses: number;
}

/**
 * Starts a service for a test file, with a clock that tests can set and a count of its queries
 * about keys.
 */
export async function startKeyService(options: Omit<StackOptions, 'startProxy'> = {}) {
  const service = await startFaultyService(options);
  const { worker } = service.stack;

  async function cached(key: string): Promise<Record<string, unknown> | null> {
    return worker.keys.get(await hashApiKey(key), 'json') as Promise<Record<
      string,
      unknown
    > | null>;
  }

  return {
    proxy: service.proxy,
    worker,

    /** Counts from now on, and applies a fault to queries about keys. */
    countKeyQueries(fault: (exchange: Exchange) => Promise<void> | void = () => {}): KeyQueries {
      const counts = { lookups: 0, uses: 0 };
      service.proxy.inject((exchange) => {
        if (!exchange.query.includes('api_key')) return undefined;
        if (exchange.query.includes('update')) counts.uses++;
        else counts.lookups++;
        return fault(exchange);
      });
      return counts;
    },

    /** The KV entry of a key. */
    cached,

    /** Waits until KV has an entry for a key. @returns the time in it, milliseconds since 1970 */
    async untilCached(key: string): Promise<number> {
      // Not expect.poll, which fails in a test that runs concurrently with others.
      const entry = await vi.waitUntil(() => cached(key), { timeout: 30_000 });
      return Number(entry['checked']);
    },

    putEntry: async (key: string, entry: object) =>
      worker.keys.put(await hashApiKey(key), JSON.stringify(entry)),

    deleteEntry: async (key: string) => worker.keys.delete(await hashApiKey(key)),

    /** A new account whose key is in KV since `time`. `checked` is the time in its entry. */
    async createCachedAccount(time = Date.now()) {
      const account = await createAccount();
      expect((await authenticateAt(time, account.key)).status).toBe(404);
      return { ...account, checked: await this.untilCached(account.key) };
    },
  };
}

/**
 * Requests a path that does not exist: 404 if the key is accepted, without queries other than those
 * about the key.
 */
export function authenticate(
  key: string | undefined,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return fetchApi('/nothing-here', { key, headers: { 'Test-Clock-Ahead': '0', ...headers } });
}

/** Authenticates with the Worker's clock set to a time, in milliseconds since 1970. */
export function authenticateAt(
  time: number,
  key: string,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return authenticate(key, { 'Test-Clock': String(time), ...headers });
}

export async function revokeInDatabase(key: string): Promise<void> {
  await sql('update api_keys set revoked = now() where hash = $1', [await hashApiKey(key)]);
}

/** @returns when a key was last used in milliseconds since 1970, or null */
export async function lastUsed(key: string): Promise<number | null> {
  const [row] = await sql<{ last_used: Date }>(
    'select u.last_used from api_key_uses u join api_keys k on k.id = u.keyid where hash = $1',
    [await hashApiKey(key)],
  );
  return row?.last_used.getTime() ?? null;
}

/** Well-formed keys that were never issued. */
export const unknownKeys = (count: number) => Array.from({ length: count }, generateApiKey);
