import { neon, neonConfig } from '@neondatabase/serverless';
import { RequestStats } from '../http/request-stats.ts';
import { checkedRows } from './checked-rows.ts';
import { DatabaseError, failureOfStatus } from './errors.ts';
import { type RetryBudget, withRetry } from './retry.ts';

/** Where the database is. */
export interface DatabaseEnv {
  /** Secret: `postgresql://` URL of the role `survey_export_worker`. */
  readonly DATABASE_URL: string;
  /** Where SQL goes over HTTP. Unset in production, where the driver derives Neon's address from DATABASE_URL. */
  readonly SQL_ENDPOINT?: string;
  /** How long a page of a running export is tried again before the transfer breaks off: whole seconds, 60 when not given. */
  readonly EXPORT_RETRY_SECONDS?: string;
}

/** A row as the database prints it: text, or null. */
export type Row = readonly (string | null)[];

export interface Query {
  /** SQL with `$1`… for its parameters. */
  readonly text: string;
  readonly params: readonly (string | number | readonly string[])[];
  /** How many columns the rows have, where an answer with others must not pass for them. */
  readonly columns?: number;
}

export interface QueryOptions {
  readonly signal: AbortSignal;
  /**
   * How long to try: `request` (when not given) while somebody waits for a status, `walk` when that takes a pass over the
   * responses, `export` once a transfer runs, `probe` once, `key` for look-ups that many wait for.
   */
  readonly patience?: Patience;
  /** A longer answer is not read but refused as `too-large`, as one past the endpoint's own limit is. */
  readonly maxBytes?: number;
}

/** The database, read over HTTP: every query is a request of its own, tried again after a transient failure. */
export interface Database {
  /** @throws DatabaseError, or the signal's reason */
  rows(query: Query, options: QueryOptions): Promise<Row[]>;
  /**
   * For the answer's bytes as they came: JSON, with rows as arrays of text.
   *
   * @param use what to do with the bytes; when it throws, the query is run again
   * @throws DatabaseError, or the signal's reason
   */
  bytes<T>(query: Query, options: QueryOptions, use: (body: Uint8Array<ArrayBuffer>) => T): Promise<T>;
}

export type Patience = 'probe' | 'key' | 'request' | 'walk' | 'export';

/** A suspended compute may take seconds to wake. */
const REQUEST_SECONDS = 8;
/** A restart of the database should not cost a long download. */
const EXPORT_SECONDS = 60;

function budgetsOf(env: DatabaseEnv): Record<Patience, RetryBudget> {
  const seconds = env.EXPORT_RETRY_SECONDS || String(EXPORT_SECONDS);
  if (!/^\d{1,5}$/.test(seconds)) {
    throw new DatabaseError('defect', `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`);
  }
  const exportSeconds = Number(seconds);
  return {
    probe: { totalMs: 0, attemptMs: 3_000 }, // whoever asks for health asks again anyway
    key: { totalMs: 1000 * REQUEST_SECONDS, attemptMs: 5_000 }, // one row by an index
    request: { totalMs: 1000 * REQUEST_SECONDS, attemptMs: 20_000 },
    walk: { totalMs: 1000 * REQUEST_SECONDS, attemptMs: 60_000 },
    export: { totalMs: 1000 * exportSeconds, attemptMs: 60_000 },
  };
}

/** What our queries hand to {@link fetchAnswer} through the driver, beside fetch's own options. */
interface FetchOptions {
  signal: AbortSignal;
  maxBytes: number | undefined;
  raw: boolean;
  stats: RequestStats;
}

/** Values stay the text that Postgres printed: the driver would make a timestamp a `Date` and drop its microseconds. */
const asText = { getTypeParser: () => (value: string) => value };

neonConfig.fetchFunction = fetchAnswer;

/**
 * Does not connect yet: that DATABASE_URL is usable, the first query finds.
 *
 * @param stats where to count what is asked
 */
export function connect(env: DatabaseEnv, stats = new RequestStats()): Database {
  if (env.SQL_ENDPOINT) neonConfig.fetchEndpoint = env.SQL_ENDPOINT;
  const driver = () => neon(checkedUrl(env.DATABASE_URL), { disableWarningInBrowsers: true });

  const tried = <T>(
    patience: Patience,
    signal: AbortSignal,
    read: (attempt: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const work = async () => withRetry(budgetsOf(env)[patience], signal, read, () => stats.retries++);
    // What is asked about keys is part of the time that they take.
    return patience === 'key' ? work() : stats.timeQuery(work);
  };

  return {
    rows: ({ text, params, columns }, { signal, patience = 'request', maxBytes }) =>
      tried(patience, signal, async (attempt) => {
        const fetchOptions: FetchOptions = { signal: attempt, maxBytes, raw: false, stats };
        const how = { arrayMode: true, fullResults: true, types: asText, fetchOptions };
        return checkedRows(await driver().query(text, [...params], how), columns);
      }),

    bytes: ({ text, params }, { signal, patience = 'request', maxBytes }, use) =>
      tried(patience, signal, async (attempt) => {
        const fetchOptions: FetchOptions = { signal: attempt, maxBytes, raw: true, stats };
        const answer: unknown = await driver().query(text, [...params], { fullResults: true, fetchOptions });
        return use((answer as { body: Uint8Array<ArrayBuffer> }).body);
      }),
  };
}

/** The driver quotes a bad connection string in its error, password and all: look before it does. */
function checkedUrl(url: string | undefined): string {
  if (!url || !/^postgres(?:ql)?:\/\/[^@/]+@[^/]+\/./.test(url) || !URL.canParse(url)) {
    throw new DatabaseError('defect', 'DATABASE_URL is missing, or not postgresql://user:password@host/database');
  }
  return url;
}

/**
 * The driver's fetch. An error status becomes one of our errors before the driver can put it into words. For a query
 * that wants bytes the "parsed" answer has no rows and the bytes beside them: with `fullResults` the driver hands that
 * very object back.
 */
async function fetchAnswer(url: string, options: RequestInit & FetchOptions): Promise<unknown> {
  const { maxBytes = Infinity, raw, stats, ...init } = options;
  stats.sqlRequests++;
  const response = await fetch(url, init);
  if (response.status === 400) return response;
  if (!response.ok) throw failureOfStatus(response.status, await response.text());

  const length = Number(response.headers.get('Content-Length') ?? 0);
  if (length > maxBytes) {
    await response.body?.cancel();
    throw new DatabaseError('too-large', `an answer of ${length} bytes, more than the ${maxBytes} allowed`);
  }
  if (!raw) return response;
  const json = async () => ({ fields: [], rows: [], body: new Uint8Array(await response.arrayBuffer()) });
  return { ok: true, status: response.status, json };
}
