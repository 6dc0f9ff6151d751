import { hashApiKey } from '../../src/auth/api-key.ts';
import { type Answer, type Ask, ask } from '../support/api.ts';
import { sql } from '../support/data.ts';
import type { Exchange, FaultProxy } from '../support/fault-proxy.ts';
import type { StackOptions } from '../support/stack.ts';
import type { RunningWorker } from '../support/worker.ts';
import { withFaultyService } from '../faults/service.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** What the Worker has asked the database about keys since the count began. */
export interface KeyQueries {
  readonly lookUps: number;
  readonly hashes: number;
  readonly marks: number;
}

/** A service on a Postgres server whose clock the tests set, and the queries about keys counted. */
export function withKeyService(options: Omit<StackOptions, 'behind' | 'entry'> = {}) {
  const service = withFaultyService({ ...options, entry: 'test/support/worker-with-clock.ts' });
  return {
    get proxy(): FaultProxy {
      return service.proxy;
    },
    get worker(): RunningWorker {
      return service.stack.worker;
    },
    stopDatabase: () => service.stack.stopDatabase(),

    /** Counts from now on, and lets a fault happen to what is asked about keys. */
    countKeyQueries(fault: (exchange: Exchange) => Promise<void> | void = () => {}): KeyQueries {
      const counts = { lookUps: 0, hashes: 0, marks: 0 };
      service.proxy.inject((exchange) => {
        if (!exchange.query.includes('api_keys')) return undefined;
        if (exchange.query.includes('update')) counts.marks++;
        else {
          counts.lookUps++;
          counts.hashes += String(exchange.params[0]).split(',').length;
        }
        return fault(exchange);
      });
      return counts;
    },

    /** What KV holds for a key. */
    async cached(key: string): Promise<Record<string, unknown> | null> {
      return service.stack.worker.keys.get(await hashApiKey(key), 'json') as Promise<Record<string, unknown> | null>;
    },
  };
}

/** Asks for an address that does not exist: 404 once authenticated, without a query of its own. */
export function authenticate(key: string, ahead = 0, options: Ask = {}): Promise<Answer> {
  return ask('/nothing-here', { key, ...options, headers: { 'Test-Clock-Ahead': String(ahead), ...options.headers } });
}

export async function revokeInDatabase(key: string): Promise<void> {
  await sql('update api_keys set revoked = now() where hash = $1', [await hashApiKey(key)]);
}

export async function lastUsed(key: string): Promise<Date | null | undefined> {
  const [row] = await sql<{ last_used: Date | null }>('select last_used from api_keys where hash = $1', [
    await hashApiKey(key),
  ]);
  return row?.last_used;
}
