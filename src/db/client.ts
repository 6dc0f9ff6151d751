import { neon, neonConfig } from '@neondatabase/serverless';
import { DatabaseError, failureOfStatus } from './errors.ts';
import { QueryStats } from './query-stats.ts';
import { RESULT_NAME, checkText } from './sql.ts';
import { type RetryEnv, type RetryPolicy, retryLimits, withRetry } from './retry.ts';

/** The settings of the database. */
export interface DatabaseEnv extends RetryEnv {
  /** Secret: `postgresql://` URL of the role `survey_export_worker`. */
  readonly DATABASE_URL: string;
  /** The URL of the SQL-over-HTTP endpoint. Unset in production, where the driver derives Neon's from DATABASE_URL. */
  readonly SQL_ENDPOINT?: string;
}

/** A row as Postgres prints it: texts and nulls. */
export type Row = readonly (string | null)[];

export interface Query {
  /** SQL with the parameters `$1`, `$2`, …, whose last column is called {@link RESULT_NAME}. */
  readonly text: string;
  readonly params: readonly (string | number | readonly string[])[];
  /** The number of columns of the result; a result with another number of columns is rejected. */
  readonly columns: number;
}

export interface QueryOptions {
  readonly signal: AbortSignal;
  /** `request` unless given. */
  readonly retry?: RetryPolicy;
  /** A larger response is not read but fails as `too-large`, like one beyond the endpoint's own limit. */
  readonly maxBytes?: number;
}

/** The database over HTTP. Every query is a request of its own, and is retried after a transient failure. */
export interface Database {
  /**
   * Reads the rows of a query whose last column is a `checkColumn`.
   *
   * @throws DatabaseError, or the signal's reason
   */
  rows(query: Query, options: QueryOptions): Promise<Row[]>;
  /**
   * Reads the response's bytes: JSON with rows as arrays of text.
   *
   * @param use consumes the bytes; if it throws, the query is retried. It has to check the name of the last column.
   * @throws DatabaseError, or the signal's reason
   */
  bytes<T>(query: Query, options: QueryOptions, use: (body: Uint8Array<ArrayBuffer>, name: string) => T): Promise<T>;
}

/**
 * How much of a body is read at a time, in bytes: half of an export's page. The runtime copies each read, so larger ones take more
 * memory; many small ones leave more garbage.
 */
const READ_BYTES = 2.25 * 1024 * 1024;

/** What a query passes through the driver to {@link fetchResult}, besides fetch's own options. */
interface FetchOptions {
  signal: AbortSignal;
  maxBytes: number | undefined;
  raw: boolean;
  stats: QueryStats;
}

/** Keeps values as the text that Postgres printed: the driver would parse a timestamp into a `Date` without microseconds. */
const asText = { getTypeParser: () => (value: string) => value };

neonConfig.fetchFunction = fetchResult;

/** Does not connect: the first query shows whether DATABASE_URL is usable. */
export function connect(env: DatabaseEnv, stats = new QueryStats()): Database {
  if (env.SQL_ENDPOINT) neonConfig.fetchEndpoint = env.SQL_ENDPOINT;
  const driver = () => neon(checkedUrl(env.DATABASE_URL), { disableWarningInBrowsers: true });

  const retried = <T>(
    retry: RetryPolicy,
    signal: AbortSignal,
    read: (attempt: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const work = async () => withRetry(retryLimits(env)[retry], signal, read, () => stats.retries++);
    // Authentication is timed as a whole, including its queries.
    return retry === 'key' ? work() : stats.time(work);
  };

  return {
    rows: ({ text, params, columns }, { signal, retry = 'request', maxBytes }) =>
      retried(retry, signal, async (attempt) => {
        const fetchOptions: FetchOptions = { signal: attempt, maxBytes, raw: false, stats };
        const options = { arrayMode: true, fullResults: true, types: asText, fetchOptions };
        const name = randomName();
        const named = text.replaceAll(RESULT_NAME, name);
        return checkedRows(await driver().query(named, [...params], options), columns, name);
      }),

    bytes: ({ text, params }, { signal, retry = 'request', maxBytes }, use) =>
      retried(retry, signal, async (attempt) => {
        const fetchOptions: FetchOptions = { signal: attempt, maxBytes, raw: true, stats };
        const name = randomName();
        const named = text.replaceAll(RESULT_NAME, name);
        const result: unknown = await driver().query(named, [...params], { fullResults: true, fetchOptions });
        return use((result as { body: Uint8Array<ArrayBuffer> }).body, name);
      }),
  };
}

/** The name of a result: an SQL identifier that needs no quotes. */
const randomName = () => `r${crypto.randomUUID().replaceAll('-', '')}`;

/** Checks the URL, because the driver's error for an invalid one quotes it, password included. */
function checkedUrl(url: string | undefined): string {
  if (!url || !/^postgres(?:ql)?:\/\/[^@/]+@[^/]+\/./.test(url) || !URL.canParse(url)) {
    throw new DatabaseError('defect', 'DATABASE_URL is missing, or not postgresql://user:password@host/database');
  }
  return url;
}

/**
 * The driver's fetch. Turns an error status into a DatabaseError before the driver makes its own error of it. With `raw`, the
 * driver gets a result without rows, with the bytes as `body`; with `fullResults` it returns that same object.
 */
async function fetchResult(url: string, options: RequestInit & FetchOptions): Promise<unknown> {
  const { maxBytes = Infinity, raw, stats, ...init } = options;
  stats.requests++;
  const response = await fetch(url, init);
  if (response.status === 400) return response;
  if (!response.ok) throw failureOfStatus(response.status, await response.text());

  const length = Number(response.headers.get('Content-Length') ?? 0);
  if (length > maxBytes) {
    await response.body?.cancel();
    throw new DatabaseError('too-large', `a response of ${length} bytes, more than the ${maxBytes} allowed`);
  }
  if (!raw) return response;
  const json = async () => ({ fields: [], rows: [], body: await readBytes(response, length) });
  return { ok: true, status: response.status, json };
}

/**
 * Reads a body into one buffer. `arrayBuffer()` would collect its parts and then join them, which takes twice the memory. Nor is the
 * whole body read at once: the runtime would read into a buffer of its own, as large as the view it is given, and copy it. With a
 * `Content-Encoding`, the length is not that of the bytes read.
 */
async function readBytes(response: Response, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const { body, headers } = response;
  if (!body || length <= READ_BYTES || headers.has('Content-Encoding'))
    return new Uint8Array(await response.arrayBuffer());
  const reader = body.getReader({ mode: 'byob' }) as unknown as ByteReader;
  let bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const part = bytes.subarray(at, at + READ_BYTES);
    const { done, value } = await reader.readAtLeast(part.length, part);
    if (done) throw corrupted('fewer bytes than its Content-Length');
    bytes = new Uint8Array(value.buffer); // the read has transferred the buffer
    at += value.length;
  }
  // Only when it is read to its end does the stream release its memory.
  if (!(await reader.readAtLeast(1, new Uint8Array(1))).done) throw corrupted('more bytes than its Content-Length');
  return bytes;
}

/** The runtime's reader, which can wait for a number of bytes: https://developers.cloudflare.com/workers/runtime-apis/streams/readablestreambyobreader/ */
interface ByteReader {
  readonly readAtLeast: (
    bytes: number,
    view: Uint8Array<ArrayBuffer>,
  ) => Promise<
    | { readonly done: false; readonly value: Uint8Array<ArrayBuffer> }
    | { readonly done: true; readonly value?: undefined }
  >;
}

/** A result as the driver returns it. */
interface FullResult {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: Row[];
  readonly rowCount: number | null;
}

/**
 * The rows of a complete result. A result can be valid JSON and still be corrupted, and a list that lost rows in transit would
 * look like the end of the data.
 *
 * @param columns the number of columns every row must have
 * @param name the name of the last column
 * @throws DatabaseError `transient`
 */
export function checkedRows(result: unknown, columns: number, name: string): Row[] {
  const { fields, rows, rowCount } = result as FullResult;
  if (fields.at(-1)?.name !== name) throw corrupted('the name of another request');
  if (rows.length !== rowCount) throw corrupted(`${rows.length} rows whose rowCount is ${rowCount}`);
  if (fields.length !== columns) throw corrupted(`${fields.length} columns, not ${columns}`);
  if (rows.some((row) => row.length !== columns)) throw corrupted('rows of different lengths');
  if (rows.some((row) => row.at(-1) !== checkText(name, rowCount))) throw corrupted('rows of another result');
  return rows;
}

const corrupted = (what: string) => new DatabaseError('transient', `a result with ${what}`);

/** Reads the rows of a query that always has some. A result without rows has lost them, and is read again. */
export async function someRows(db: Database, query: Query, options: QueryOptions): Promise<[Row, ...Row[]]> {
  let rows = await db.rows(query, options);
  if (rows.length === 0) rows = await db.rows(query, options);
  const [first, ...others] = rows;
  if (first) return [first, ...others];
  throw new DatabaseError('transient', 'a result that has lost all its rows');
}
