import { neon, neonConfig } from '@neondatabase/serverless';
import { free } from '../encode/bytes.ts';
import type { EncodeRows, EncodedPage } from '../encode/rows.ts';
import { type DatabaseEnv, endpointOf } from './endpoint.ts';
import { DatabaseError } from './errors.ts';
import { type FetchOptions, fetchResult } from './fetch-result.ts';
import { Proof } from './proof.ts';
import type { QueryStats } from './query-stats.ts';
import { type RetryPolicy, retryLimits, withRetry } from './retry.ts';
import { type Query, type Row, type Sql, render } from './sql.ts';

export interface QueryOptions {
  /** How long the query is retried: `request` unless given. */
  readonly retry?: RetryPolicy;
  /** Cancels the query, in place of the connection's. */
  readonly signal?: AbortSignal | undefined;
  /** Whether an attempt that was sent is awaited although the signal is aborted. */
  readonly finishes?: boolean | undefined;
  /** Whether the caller requests fewer rows instead if the result is too large. */
  readonly canShrink?: boolean | undefined;
  /** Checks the length of the result, which is small unless given. */
  readonly checkLength?: FetchOptions['checkLength'] | undefined;
  /** Is called with true before the wait for another attempt, and with false after it. */
  readonly onPause?: (isPausing: boolean) => void;
}

/** A page whose rows are proven to be those of its query, and the memory that it takes. */
export interface ProvenPage extends EncodedPage {
  /** The length of the result that it was made from, in bytes. */
  readonly bytes: number;
  /** Frees its memory. */
  readonly release: () => void;
}

const MAX_SMALL_BYTES = 256 * 1024;

/** @throws DatabaseError `transient`: few rows are never that long, so they are another query's */
function checkSmall(bytes: number): void {
  if (bytes > MAX_SMALL_BYTES)
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
  /** Cancels its queries, unless they have a signal of their own. */
  readonly signal: AbortSignal;

  constructor(env: DatabaseEnv, stats: QueryStats, signal: AbortSignal) {
    this.#env = env;
    this.#stats = stats;
    this.signal = signal;
  }

  /** Reads the rows of a query. */
  async rows(query: Query, options: QueryOptions): Promise<Row[]> {
    const { rows } = await this.#proven(query, options, (proof, body) => proof.rowsOf(body));
    return rows;
  }

  /** Reads the rows of a query and encodes them. */
  async page(query: Query, options: QueryOptions, encode: EncodeRows): Promise<ProvenPage> {
    const { page, bytes } = await this.#proven(query, options, (proof, body) => {
      const { length } = body;
      const proven = proof.pageOf(body, encode);
      if (proven.page.data.buffer !== body.buffer) free(body);
      return { ...proven, bytes: length };
    });

    const release = () => {
      free(page.data);
      free(page.cells);
    };
    return { ...page, bytes, release };
  }

  /** Executes a statement that may be executed twice. Its result is not read. */
  async execute(statement: Sql, options: QueryOptions): Promise<void> {
    await this.#retried(options, (signal) => this.#send(render(statement), signal, options));
  }

  /** @param prove proves the body of a response, and reads it */
  async #proven<T extends { readonly forms: string }>(
    query: Query,
    options: QueryOptions,
    prove: (proof: Proof, body: Uint8Array<ArrayBuffer>) => T,
  ): Promise<T> {
    const proven = await this.#retried(options, async (signal) => {
      const proof = new Proof(query);
      return prove(proof, await this.#send(proof.statement, signal, options));
    });
    query.forms?.check(proven.forms);
    return proven;
  }

  /** Makes attempts. */
  #retried<T>(
    { retry = 'request', signal = this.signal, onPause, ...options }: QueryOptions,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const onRetry = (isPausing: boolean) => {
      if (!isPausing) this.#stats.retries++;
      onPause?.(isPausing);
    };
    const work = async () =>
      withRetry(retryLimits(this.#env.EXPORT_RETRY_SECONDS)[retry], signal, attempt, {
        ...options,
        onPause: onRetry,
      });
    // Authentication is timed as a whole, including its queries.
    return retry === 'key' ? work() : this.#stats.time(work);
  }

  /** Sends SQL once. @returns the body of the response */
  async #send(
    { text, params }: ReturnType<typeof render>,
    signal: AbortSignal,
    { checkLength = checkSmall }: QueryOptions,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { databaseUrl, endpoint, headers } = endpointOf(this.#env);
    neonConfig.fetchEndpoint = endpoint || (undefined as unknown as string); // Neon's
    this.#stats.requests++;
    const fetchOptions: FetchOptions = { signal, checkLength, more: headers };
    const driver = neon(databaseUrl, { disableWarningInBrowsers: true });
    const result: unknown = await driver.query(text, params, { fullResults: true, fetchOptions });
    return (result as { body: Uint8Array<ArrayBuffer> }).body;
  }
}
