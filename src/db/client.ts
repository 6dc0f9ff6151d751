import { neon, neonConfig } from '@neondatabase/serverless';
import { free } from '../encode/bytes.ts';
import type { EncodeRows, EncodedPage } from '../encode/rows.ts';
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

export interface PageReadOptions extends QueryOptions {
  /** Where the page is expected to end. If it does, its rows need not be counted. */
  readonly expectedEnd?: Pick<EncodedPage, 'rowCount' | 'lastKey'> | undefined;
}

/**
 * The database over HTTP. Every query is a separate request, and is retried after a transient failure.
 *
 * What `rows`, `row` and `page` return belongs to the query, and is complete: see {@link Proof}.
 */
export interface Database {
  /** Reads the rows of a query. @throws DatabaseError, or the signal's reason */
  rows(query: Query, options: QueryOptions): Promise<Row[]>;
  /** Reads the row of a query that always returns one. @throws DatabaseError, or the signal's reason */
  row(query: Query, options: QueryOptions): Promise<Row>;
  /**
   * Reads the rows of a query and encodes them.
   *
   * @throws DatabaseError, or the signal's reason
   */
  page(query: Query, options: PageReadOptions, encode: EncodeRows): Promise<ProvenPage>;
  /** Executes a statement that may be executed twice. Its result is not read. @throws DatabaseError, or the signal's reason */
  execute(statement: Query, options: QueryOptions): Promise<void>;
}

/** Keeps values as the text that Postgres printed: the driver would parse a timestamp into a `Date` without microseconds. */
const asText = { getTypeParser: () => (value: string) => value };

neonConfig.fetchFunction = fetchResult;

/** Does not connect: the first query shows whether DATABASE_URL is usable. */
export function connect(env: DatabaseEnv, stats = new QueryStats()): Database {
  if (env.SQL_ENDPOINT) neonConfig.fetchEndpoint = env.SQL_ENDPOINT;
  const driver = () => neon(checkedUrl(env.DATABASE_URL), { disableWarningInBrowsers: true });

  /** Sends SQL once. @param raw returns the response's bytes as `body`, instead of rows */
  const send = (sql: string, { params }: Query, { signal, maxBytes }: QueryOptions, raw = false): Promise<unknown> => {
    const fetchOptions: FetchOptions = { signal, maxBytes, raw, stats };
    return driver().query(sql, [...params], { arrayMode: true, fullResults: true, types: asText, fetchOptions });
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

  const rows: Database['rows'] = (query, options) =>
    retried(options, async (attempt) => {
      const proof = new Proof(query, true);
      return proof.rowsOf(await send(proof.sql, query, attempt));
    });

  return {
    rows,

    async row(query, options) {
      const [row] = await rows(query, options);
      if (!row) throw new DatabaseError('defect', 'a query without a row');
      return row;
    },

    async page(query, { expectedEnd, ...options }, encode) {
      const read = (isCounted: boolean) =>
        retried(options, async (attempt) => {
          const proof = new Proof(query, isCounted);
          const result = await send(proof.sql, query, attempt, true);
          const { body } = result as { body: Uint8Array<ArrayBuffer> };
          const page = proof.pageOf(body, encode);
          if (page.data.buffer !== body.buffer) free(body);
          return page;
        });
      if (!expectedEnd) return read(true);
      const page = await read(false);
      const { rowCount, lastKey } = expectedEnd;
      if (page.rowCount === rowCount && page.lastKey.every((value, i) => value === lastKey[i])) return page;
      // Rows are missing, or were stored or deleted since.
      free(page.data);
      free(page.cells);
      return read(true);
    },

    execute: (statement, options) =>
      retried(options, async (attempt) => void (await send(statement.text, statement, attempt))),
  };
}

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
