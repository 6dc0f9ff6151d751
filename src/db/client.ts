import { neon, neonConfig } from '@neondatabase/serverless';
import { DatabaseError, failureOfStatus } from './errors.ts';
import { type RetryBudget, withRetry } from './retry.ts';

/** Where the database is. */
export interface DatabaseEnv {
  /** Secret: `postgresql://` URL of the role `survey_export_worker`. */
  readonly DATABASE_URL: string;
  /** Where SQL goes over HTTP. Unset in production, where the driver derives Neon's address from DATABASE_URL. */
  readonly SQL_ENDPOINT?: string;
}

/** A row as the database prints it: text, or null. */
export type Row = readonly (string | null)[];

export interface Query {
  /** SQL with `$1`… for its parameters. */
  readonly text: string;
  readonly params: readonly (string | number | readonly string[])[];
}

export interface QueryOptions {
  readonly signal: AbortSignal;
  /** How long to try; {@link INTERACTIVE} when not given. */
  readonly budget?: RetryBudget;
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

/** For queries before a response has begun: somebody is waiting, but a suspended compute may take seconds to wake. */
export const INTERACTIVE: RetryBudget = { totalMs: 8_000, attemptMs: 20_000 };
/** For the pages of a running export: a restart of the database should not cost a long download. */
export const PAGE: RetryBudget = { totalMs: 60_000, attemptMs: 60_000 };

/** What our queries hand to {@link fetchAnswer} through the driver, beside fetch's own options. */
interface FetchOptions {
  signal: AbortSignal;
  maxBytes: number | undefined;
  raw: boolean;
}

/** Values stay the text that Postgres printed: the driver would make a timestamp a `Date` and drop its microseconds. */
const asText = { getTypeParser: () => (value: string) => value };

neonConfig.fetchFunction = fetchAnswer;

/** @throws DatabaseError when the environment has no usable DATABASE_URL */
export function connect(env: DatabaseEnv): Database {
  if (env.SQL_ENDPOINT) neonConfig.fetchEndpoint = env.SQL_ENDPOINT;
  const sql = neon(checkedUrl(env.DATABASE_URL), { disableWarningInBrowsers: true });

  return {
    rows: ({ text, params }, { signal, budget = INTERACTIVE, maxBytes }) =>
      withRetry(budget, signal, async (attempt) => {
        const fetchOptions: FetchOptions = { signal: attempt, maxBytes, raw: false };
        return (await sql.query(text, [...params], { arrayMode: true, types: asText, fetchOptions })) as Row[];
      }),

    bytes: ({ text, params }, { signal, budget = INTERACTIVE, maxBytes }, use) =>
      withRetry(budget, signal, async (attempt) => {
        const fetchOptions: FetchOptions = { signal: attempt, maxBytes, raw: true };
        const answer: unknown = await sql.query(text, [...params], { fullResults: true, fetchOptions });
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
  const { maxBytes = Infinity, raw, ...init } = options;
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
