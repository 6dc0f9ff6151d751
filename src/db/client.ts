import { neon, neonConfig } from '@neondatabase/serverless';
import { free } from '../encode/bytes.ts';
import type { EncodeRows } from '../encode/rows.ts';
import type { Lease, Reservation } from '../limits/lease.ts';
import {
  MAX_BYTES,
  bulkAmount,
  bulkQueries,
  memory,
  quickQueries,
  scans,
} from '../limits/limits.ts';
import type { Quota } from '../limits/quota.ts';
import { type FetchOptions, fetchResult } from './fetch-result.ts';
import { type DatabaseEnv, endpointOf } from './endpoint.ts';
import { DatabaseError } from './errors.ts';
import { Proof, type ProvenPage } from './proof.ts';
import { QueryStats } from './query-stats.ts';
import { type RetryPolicy, retryLimits, withRetry } from './retry.ts';
import { type Param, type Query, type Row, render } from './sql.ts';

export interface QueryOptions {
  /** That of {@link connect} unless given. */
  readonly signal?: AbortSignal;
  /** `request` unless given. */
  readonly retry?: RetryPolicy | undefined;
  /**
   * A larger response is not read but fails as `too-large`, like one beyond the endpoint's own
   * limit.
   */
  readonly maxBytes?: number | undefined;
  /** Whether rows are held until the request ends. Their memory is counted as long. */
  readonly keep?: boolean;
  /** What the memory of a page is counted in: a new one unless given. */
  readonly reservation?: Reservation | undefined;
  /**
   * Whether the caller can read a page of fewer rows. A large one for which there is no memory at
   * the moment then fails as `too-large`.
   */
  readonly canBeSmaller?: boolean;
}

/** A page, and its memory. */
export interface HeldPage extends ProvenPage {
  /** The bytes that it takes. */
  readonly bytes: number;
  /** Frees them. */
  readonly release: () => void;
}

/**
 * The memory of rows that were parsed, per byte of the result. Measured: 5 with short texts, and
 * the text itself while it is parsed.
 */
const PARSED_BYTES = 8;

/**
 * A result of at most so many bytes waits for memory, since fewer of its rows would have to wait
 * too.
 */
const SMALL_RESULT_BYTES = 64 * 1024;

/**
 * Where queries take their turns among those of their account. The others belong to no account yet.
 */
const TURNS: Partial<Record<RetryPolicy, Quota>> = {
  request: quickQueries,
  export: bulkQueries,
  scan: scans,
};

/**
 * Keeps values as the text that Postgres printed: the driver would parse a timestamp into a `Date`
 * without microseconds.
 */
const asText = { getTypeParser: () => (value: string) => value };

neonConfig.fetchFunction = fetchResult;

export type Database = ReturnType<typeof connect>;

/**
 * The database over HTTP. Every query is a separate request, and is retried after a transient
 * failure. Does not connect: the first query shows whether DATABASE_URL is usable.
 *
 * What `rows` and `page` return belongs to the query, and is complete: see {@link Proof}. All
 * methods throw a DatabaseError, a LimitError if the account's turn does not come or there is no
 * memory for the result in time, or the signal's reason.
 *
 * @param leaseOf the lease of the request, as soon as its account is known
 * @param requestSignal cancels its queries
 */
export function connect(
  env: DatabaseEnv,
  stats = new QueryStats(),
  leaseOf: () => Lease | undefined = () => undefined,
  requestSignal = new AbortController().signal,
) {
  /** Sends SQL once. */
  const send = (
    text: string,
    params: readonly Param[],
    { signal = requestSignal, maxBytes }: QueryOptions,
    { raw = false, reserve = () => {} }: Partial<Pick<FetchOptions, 'raw' | 'reserve'>> = {},
  ): Promise<unknown> => {
    const { databaseUrl, endpoint, headers } = endpointOf(env);
    neonConfig.fetchEndpoint = endpoint || (undefined as unknown as string); // Neon's
    const fetchOptions: FetchOptions = { signal, maxBytes, raw, stats, reserve, more: headers };
    const driver = neon(databaseUrl, { disableWarningInBrowsers: true });
    return driver.query(text, [...params], {
      arrayMode: true,
      fullResults: true,
      types: asText,
      fetchOptions,
    });
  };

  /** The authentication of a request does not wait for other requests of its account. */
  const leaseFor = ({ retry }: QueryOptions) => (retry === 'key' ? undefined : leaseOf());

  /** Makes attempts, each in its turn. */
  function retried<T>(
    options: QueryOptions,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { retry = 'request', signal = requestSignal } = options;
    const acquireTurn = async () => {
      const turns = TURNS[retry];
      return (
        turns && leaseFor(options)?.acquire(turns, turns === bulkQueries ? bulkAmount() : 1, signal)
      );
    };
    const work = async () =>
      withRetry(
        retryLimits(env.EXPORT_RETRY_SECONDS)[retry],
        signal,
        acquireTurn,
        attempt,
        () => stats.retries++,
      );
    // Authentication is timed as a whole, including its queries.
    return retry === 'key' ? work() : stats.time(work);
  }

  /**
   * Makes attempts at a query. If there is no memory for its result, waits for it without a turn,
   * and sends the query again.
   */
  async function retriedWithMemory<T>(
    options: QueryOptions,
    reservation: Reservation | undefined,
    attempt: (signal: AbortSignal, reserve: FetchOptions['reserve']) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      let needed = 0;
      const reserve = (bytes: number) => {
        needed = bytes;
        if (reservation?.resize(Math.max(bytes, reservation.amount)) === false)
          throw new DatabaseError('no-memory', `no memory for ${bytes} bytes at the moment`);
      };
      try {
        return await retried(options, (signal) => attempt(signal, reserve));
      } catch (error) {
        reservation?.release();
        if (!(error instanceof DatabaseError) || error.kind !== 'no-memory') throw error;
        await acquireMemory(reservation, needed, { signal: requestSignal, ...options });
      }
    }
  }

  /** Reads the rows of a query. */
  async function rows(
    query: Query,
    { keep = false, ...options }: QueryOptions = {},
  ): Promise<Row[]> {
    const reservation = leaseFor(options)?.reserve(memory);
    const read = await retriedWithMemory(options, reservation, async (signal, reserve) => {
      const proof = new Proof(query);
      const reserveParsed = (bytes: number) => {
        // Without a limit, the largest result has a survey's form versions. This would be some
        // 30,000: it is probably another query's.
        if (options.maxBytes === undefined && PARSED_BYTES * bytes > MAX_BYTES)
          throw new DatabaseError('transient', `a result of ${bytes} bytes for few rows`);
        reserve(PARSED_BYTES * bytes);
      };
      return proof.rowsOf(
        await send(proof.sql, proof.params, { ...options, signal }, { reserve: reserveParsed }),
      );
    });
    if (!keep) reservation?.release();
    return read;
  }

  return {
    rows,

    /** Reads the rows of a query and encodes them. */
    async page(query: Query, options: QueryOptions, encode: EncodeRows): Promise<HeldPage> {
      const { reservation = leaseFor(options)?.reserve(memory) } = options;
      const page = await retriedWithMemory(options, reservation, async (signal, reserve) => {
        const proof = new Proof(query);
        const result = await send(
          proof.sql,
          proof.params,
          { ...options, signal },
          { raw: true, reserve },
        );
        const { body } = result as { body: Uint8Array<ArrayBuffer> };
        const encoded = proof.pageOf(body, encode);
        if (encoded.data.buffer !== body.buffer) free(body);
        return encoded;
      });
      const { data, cells } = page;
      const bytes = data.buffer.byteLength + cells.buffer.byteLength;
      const freeBuffers = () => {
        free(data);
        free(cells);
      };
      const release = () => {
        freeBuffers();
        reservation?.release();
      };
      try {
        // More than was read, if the encoder needs another buffer.
        await acquireMemory(reservation, bytes, { signal: requestSignal, ...options });
      } catch (error) {
        release();
        throw error;
      }
      if (reservation) reservation.free = freeBuffers;
      return { ...page, bytes, release };
    },

    /** Executes a statement that may be executed twice. Its result is not read. */
    execute: (statement: Query, options: QueryOptions): Promise<void> =>
      retried(options, async (signal) => {
        const { text, params } = render(statement.text);
        await send(text, params, { ...options, signal });
      }),
  };
}

/** The same database, whose queries another signal cancels. */
export const withSignal = (db: Database, signal: AbortSignal): Database => ({
  ...db,
  rows: (query, options) => db.rows(query, { signal, ...options }),
  page: (query, options, encode) => db.page(query, { signal, ...options }, encode),
});

/**
 * Counts memory, after a wait if there is none, unless fewer rows can be read. @throws
 * DatabaseError `too-large`, LimitError
 */
async function acquireMemory(
  reservation: Reservation | undefined,
  bytes: number,
  { signal, canBeSmaller = false }: QueryOptions & { readonly signal: AbortSignal },
): Promise<void> {
  if (!reservation || reservation.resize(bytes)) return;
  if ((canBeSmaller && bytes > SMALL_RESULT_BYTES) || bytes > MAX_BYTES)
    throw new DatabaseError(
      'too-large',
      `a result that takes ${bytes} bytes, for which there is no memory`,
    );
  await reservation.acquire(bytes, signal);
}
