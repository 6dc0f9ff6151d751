import { neon, neonConfig } from '@neondatabase/serverless';
import { free } from '../encode/bytes.ts';
import type { EncodeRows, EncodedPage } from '../encode/rows.ts';
import { type DatabaseEnv, endpointOf } from './endpoint.ts';
import { DatabaseError } from './errors.ts';
import { type FetchOptions, fetchResult } from './fetch-result.ts';
import { Proof } from './proof.ts';
import { QueryStats } from './query-stats.ts';
import { type RetryPolicy, retryLimits, withRetry } from './retry.ts';
import { type Param, type Query, type Row, type Sql, render } from './sql.ts';

export interface QueryOptions {
  /** How long the query is retried: `request` unless given. */
  readonly retry?: RetryPolicy | undefined;
  /** Cancels the query. That of {@link connect} unless given. */
  readonly signal?: AbortSignal | undefined;
  /** Whether an attempt that was sent is awaited although the signal is aborted. */
  readonly finishes?: boolean;
  /**
   * Whether a result of so many bytes may be read; otherwise it fails as `too-large`. Unless given,
   * the result is small.
   */
  readonly fits?: FetchOptions['fits'] | undefined;
  /** Is called with true before the wait for another attempt, and with false after it. */
  readonly onPause?: (isPausing: boolean) => void;
}

/** A page whose rows are proven to be those of its query, and the memory that it takes. */
export interface ProvenPage extends Omit<EncodedPage, 'end'> {
  /** The length of the result that it was made from, in bytes. */
  readonly bytes: number;
  /** Frees its memory. */
  readonly release: () => void;
}

/** Keeps values as the text that Postgres printed: the driver would parse a timestamp into a `Date` without microseconds. */
const asText = { getTypeParser: () => (value: string) => value };

const MAX_SMALL_BYTES = 256 * 1024;

/** @throws DatabaseError `transient`: few rows are never that long, so they are another query's */
function isSmall(bytes: number): boolean {
  if (bytes <= MAX_SMALL_BYTES) return true;
  throw new DatabaseError('transient', `a result of ${bytes} bytes for few rows`);
}

neonConfig.fetchFunction = fetchResult;

/**
 * The database over HTTP. Every query is a separate request, and is retried after a transient
 * failure. Does not connect: the first query shows whether DATABASE_URL is usable.
 *
 * What `rows` and `page` return belongs to the query, and is complete: see {@link Proof}. All
 * methods throw a DatabaseError or the signal's reason.
 */
export class Connection {
  readonly #env: DatabaseEnv;
  readonly #stats: QueryStats;
  readonly #signal: AbortSignal;

  /** @param signal cancels its queries */
  constructor(env: DatabaseEnv, stats = new QueryStats(), signal = new AbortController().signal) {
    this.#env = env;
    this.#stats = stats;
    this.#signal = signal;
  }

  /** Reads the rows of a query. */
  async rows(query: Query, options: QueryOptions = {}): Promise<Row[]> {
    const { rows, forms } = await this.#retried(options, async (signal) => {
      const proof = new Proof(query);
      return proof.rowsOf(await this.#send(proof.sql, proof.params, signal, options));
    });
    query.forms?.check(forms);
    return rows;
  }

  /** Reads the rows of a query and encodes them. */
  async page(query: Query, options: QueryOptions, encode: EncodeRows): Promise<ProvenPage> {
    const { page, forms, bytes } = await this.#retried(options, async (signal) => {
      const proof = new Proof(query);
      const result = await this.#send(proof.sql, proof.params, signal, options, true);
      const { body } = result as { body: Uint8Array<ArrayBuffer> };
      const { length } = body;
      const proven = proof.pageOf(body, encode);
      if (proven.page.data.buffer !== body.buffer) free(body);
      return { ...proven, bytes: length };
    });
    query.forms?.check(forms);

    const release = () => {
      free(page.data);
      free(page.cells);
    };
    return { ...page, bytes, release };
  }

  /** Executes a statement that may be executed twice. Its result is not read. */
  async execute(statement: Sql, options: QueryOptions): Promise<void> {
    const { text, params } = render(statement);
    await this.#retried(options, (signal) => this.#send(text, params, signal, options));
  }

  /** Makes attempts. */
  #retried<T>(
    { retry = 'request', signal = this.#signal, finishes, onPause }: QueryOptions,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const onRetry = (isPausing: boolean) => {
      if (!isPausing) this.#stats.retries++;
      onPause?.(isPausing);
    };
    const work = async () => {
      const limits = retryLimits(this.#env.EXPORT_RETRY_SECONDS)[retry];
      return withRetry(limits, signal, attempt, { finishes, onPause: onRetry });
    };
    // Authentication is timed as a whole, including its queries.
    return retry === 'key' ? work() : this.#stats.time(work);
  }

  /** Sends SQL once. @param raw whether the result is to have its bytes, in place of its rows */
  #send(
    text: string,
    params: readonly Param[],
    signal: AbortSignal,
    { fits = isSmall }: QueryOptions,
    raw = false,
  ): Promise<unknown> {
    const { databaseUrl, endpoint, headers } = endpointOf(this.#env);
    neonConfig.fetchEndpoint = endpoint || (undefined as unknown as string); // Neon's
    const stats = this.#stats;
    const fetchOptions: FetchOptions = { signal, fits, raw, stats, more: headers };
    const driver = neon(databaseUrl, { disableWarningInBrowsers: true });
    return driver.query(text, [...params], {
      arrayMode: true,
      fullResults: true,
      types: asText,
      fetchOptions,
    });
  }
}
