import { neon, neonConfig } from '@neondatabase/serverless';
import { free } from '../encode/bytes.ts';
import type { EncodeRows, EncodedPage } from '../encode/rows.ts';
import { ApiError } from '../http/errors.ts';
import { type Hold, MAX_BYTES, type RequestLease } from '../limits/limits.ts';
import { type FetchOptions, fetchResult } from './fetch-result.ts';
import { DatabaseError } from './errors.ts';
import { Proof, type ProvenPage } from './proof.ts';
import { QueryStats } from './query-stats.ts';
import { type RetryEnv, type RetryPolicy, retryLimits, withRetry } from './retry.ts';
import type { Query, Row } from './sql.ts';

/** The settings of the database. */
export interface DatabaseEnv extends RetryEnv {
  /** Secret: `postgresql://` URL of the role `survey_export_worker`. */
  readonly DATABASE_URL: string;
  /** The URL of the SQL-over-HTTP endpoint. Unset in production, where the driver derives Neon's from DATABASE_URL. */
  readonly SQL_ENDPOINT?: string;
}

export interface QueryOptions {
  readonly signal: AbortSignal;
  /** `request` unless given. */
  readonly retry?: RetryPolicy | undefined;
  /** A larger response is not read but fails as `too-large`, like one beyond the endpoint's own limit. */
  readonly maxBytes?: number | undefined;
}

export interface RowsOptions extends QueryOptions {
  /** Whether the rows are held until the request ends. Their memory is counted as long. */
  readonly keep?: boolean;
}

export interface PageReadOptions extends QueryOptions {
  /** What the page's memory is counted in: a new one unless given. */
  readonly hold?: Hold | undefined;
  /** Whether the caller can read fewer rows. A page for which there is no memory at the moment then fails as `too-large`. */
  readonly canBeSmaller?: boolean;
  /** Where the page is expected to end. If it does, its rows need not be counted. */
  readonly expectedEnd?: Pick<EncodedPage, 'rowCount' | 'lastKey'> | undefined;
}

/** A page, and its memory. */
export interface HeldPage extends ProvenPage {
  /** The bytes that it takes. */
  readonly bytes: number;
  /** Frees them. */
  readonly release: () => void;
}

/** The memory of rows that were parsed, per byte of the result. Measured: 5 with short texts, and the text itself while it is parsed. */
const PARSED_BYTES = 8;

/**
 * The database over HTTP. Every query is a separate request, and is retried after a transient failure.
 *
 * What `rows`, `row` and `page` return belongs to the query, and is complete: see {@link Proof}.
 */
export interface Database {
  /** Reads the rows of a query. @throws DatabaseError, or the signal's reason */
  rows(query: Query, options: RowsOptions): Promise<Row[]>;
  /** Reads the row of a query that always returns one. @throws DatabaseError, or the signal's reason */
  row(query: Query, options: QueryOptions): Promise<Row>;
  /**
   * Reads the rows of a query and encodes them.
   *
   * @throws DatabaseError, or the signal's reason
   */
  page(query: Query, options: PageReadOptions, encode: EncodeRows): Promise<HeldPage>;
  /** Executes a statement that may be executed twice. Its result is not read. @throws DatabaseError, or the signal's reason */
  execute(statement: Query, options: QueryOptions): Promise<void>;
}

/** Keeps values as the text that Postgres printed: the driver would parse a timestamp into a `Date` without microseconds. */
const asText = { getTypeParser: () => (value: string) => value };

neonConfig.fetchFunction = fetchResult;

/**
 * Does not connect: the first query shows whether DATABASE_URL is usable.
 *
 * @param lease counts what results take, and gives queries their turn; small results that no account waits for need none
 */
export function connect(env: DatabaseEnv, stats = new QueryStats(), lease?: RequestLease): Database {
  if (env.SQL_ENDPOINT) neonConfig.fetchEndpoint = env.SQL_ENDPOINT;
  const driver = () => neon(checkedUrl(env.DATABASE_URL), { disableWarningInBrowsers: true });

  /** Sends SQL once. */
  const send = (
    sql: string,
    { params }: Query,
    { signal, maxBytes }: QueryOptions,
    { raw = false, reserve = async () => {} }: Partial<Pick<FetchOptions, 'raw' | 'reserve'>> = {},
  ): Promise<unknown> => {
    const fetchOptions: FetchOptions = { signal, maxBytes, raw, stats, reserve };
    const request = () =>
      driver().query(sql, [...params], { arrayMode: true, fullResults: true, types: asText, fetchOptions });
    return lease ? lease.query(signal, request) : request();
  };

  function retried<T>(options: QueryOptions, attempt: (options: QueryOptions) => Promise<T>): Promise<T> {
    const { retry = 'request', signal } = options;
    const work = async () => {
      const limits = retryLimits(env)[retry];
      return withRetry(
        limits,
        signal,
        (attemptSignal) => attempt({ ...options, signal: attemptSignal }),
        () => stats.retries++,
      );
    };
    // Authentication is timed as a whole, including its queries.
    return retry === 'key' ? work() : stats.time(work);
  }

  const rows: Database['rows'] = (query, { keep = false, ...options }) =>
    retried(options, async (attempt) => {
      const proof = new Proof(query, true);
      const hold = lease?.hold();
      const reserve = async (bytes: number) => {
        // Without a limit, the largest result has a survey's form versions. This would be some 30,000: it is probably another query's.
        if (attempt.maxBytes === undefined && PARSED_BYTES * bytes > MAX_BYTES)
          throw new DatabaseError('transient', `a result of ${bytes} bytes for few rows`);
        await waitFor(hold, PARSED_BYTES * bytes, attempt);
      };
      let isKept = false;
      try {
        const read = proof.rowsOf(await send(proof.sql, query, attempt, { reserve }));
        isKept = keep;
        return read;
      } finally {
        if (!isKept) hold?.release();
      }
    });

  /** Waits for memory; during a transfer as long as for the database. @throws DatabaseError `no-memory`, or the signal's reason */
  async function waitFor(hold: Hold | undefined, bytes: number, { retry, signal }: QueryOptions): Promise<void> {
    if (hold && bytes > MAX_BYTES) throw noMemory(bytes);
    try {
      await hold?.wait(bytes, signal, retry === 'export' ? retryLimits(env).export.totalMs : undefined);
    } catch (error) {
      throw error instanceof ApiError ? new DatabaseError('no-memory', error.message, error) : error;
    }
  }

  /** Reads a page once. */
  async function pageOnce(
    proof: Proof,
    query: Query,
    { hold = lease?.hold(), canBeSmaller = false, ...options }: PageReadOptions,
    encode: EncodeRows,
  ): Promise<HeldPage> {
    const reserve = async (bytes: number) => {
      if (!hold || hold.set(Math.max(bytes, hold.bytes))) return;
      if (canBeSmaller) throw noMemory(bytes);
      await waitFor(hold, bytes, options);
    };
    try {
      const result = await send(proof.sql, query, options, { raw: true, reserve });
      const { body } = result as { body: Uint8Array<ArrayBuffer> };
      const page = proof.pageOf(body, encode);
      const { data, cells } = page;
      if (data.buffer !== body.buffer) free(body);
      const bytes = data.buffer.byteLength + cells.buffer.byteLength;
      const release = () => {
        free(data);
        free(cells);
        hold?.release();
      };
      if (hold && !hold.set(bytes)) {
        if (canBeSmaller) {
          release();
          throw noMemory(bytes);
        }
        hold.setAnyway(bytes);
      }
      return { ...page, bytes, release };
    } catch (error) {
      hold?.release();
      throw error;
    }
  }

  return {
    rows,

    async row(query, options) {
      const [row] = await rows(query, options);
      if (!row) throw new DatabaseError('defect', 'a query without a row');
      return row;
    },

    async page(query, { expectedEnd, ...options }, encode) {
      const read = (isCounted: boolean) =>
        retried(options, (attempt) => pageOnce(new Proof(query, isCounted), query, { ...options, ...attempt }, encode));
      if (!expectedEnd) return read(true);
      const page = await read(false);
      const { rowCount, lastKey } = expectedEnd;
      if (page.rowCount === rowCount && page.lastKey.every((value, i) => value === lastKey[i])) return page;
      page.release(); // rows are missing, or were stored or deleted since
      return read(true);
    },

    execute: (statement, options) =>
      retried(options, async (attempt) => void (await send(statement.text, statement, attempt))),
  };
}

const noMemory = (bytes: number) =>
  new DatabaseError('too-large', `a response that takes ${bytes} bytes, for which there is no memory`);

/** Checks the URL, because the driver's error for an invalid one quotes it, password included. */
function checkedUrl(url: string | undefined): string {
  if (!url || !/^postgres(?:ql)?:\/\/[^@/]+@[^/]+\/./.test(url) || !URL.canParse(url)) {
    throw new DatabaseError(
      'not-configured',
      'DATABASE_URL is missing, or lacks a user, password, host or database. Locally, use "npm run dev", which has a database',
    );
  }
  return url;
}
