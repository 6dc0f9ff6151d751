import { DatabaseError } from './errors.ts';

/** The settings of the database. */
export interface DatabaseEnv {
  /** Secret: `postgresql://` URL of the role `survey_export_worker`. */
  readonly DATABASE_URL: string;
  /**
   * The URL of the SQL-over-HTTP endpoint of a database that is not Neon's. Neon's is derived from
   * DATABASE_URL.
   */
  readonly SQL_ENDPOINT?: string;
  /** Secret: headers for SQL_ENDPOINT, as a JSON object. */
  readonly SQL_ENDPOINT_HEADERS?: string;
  /**
   * How long a page of a running export is retried before the transfer is aborted: whole seconds,
   * 60 unless given.
   */
  readonly EXPORT_RETRY_SECONDS?: string;
}

/** Whether a host has Neon's endpoint. */
export const isNeon = (host: string) => /\.neon\.tech$/i.test(host);

/**
 * Reads the settings of the database. The password is sent to Neon, or to SQL_ENDPOINT over TLS.
 *
 * @returns where SQL is sent: undefined for Neon's endpoint, which the driver derives from the URL;
 * and headers besides the driver's
 * @throws DatabaseError `not-configured`; its message has no secret, unlike the driver's, which
 * quotes DATABASE_URL
 */
export function endpointOf({
  DATABASE_URL = '',
  SQL_ENDPOINT,
  SQL_ENDPOINT_HEADERS,
}: Partial<DatabaseEnv>) {
  const isComplete = /^postgres(?:ql)?:\/\/[^@/]+@[^/]+\/./.test(DATABASE_URL);
  if (!isComplete || !URL.canParse(DATABASE_URL))
    throw notConfigured(
      'DATABASE_URL is missing, or lacks a user, password, host or database. Locally, use "npm run dev", which has a database',
    );

  if (!SQL_ENDPOINT && !isNeon(new URL(DATABASE_URL).hostname))
    throw notConfigured(
      'DATABASE_URL names a host that is not Neon’s: SQL_ENDPOINT must be the URL of its gateway',
    );

  if (SQL_ENDPOINT && !isSafe(URL.parse(SQL_ENDPOINT)))
    throw notConfigured(
      'SQL_ENDPOINT must be an https: URL without user and password (http: only on loopback)',
    );

  return {
    databaseUrl: DATABASE_URL,
    endpoint: SQL_ENDPOINT,
    headers: headersOf(SQL_ENDPOINT_HEADERS || '{}'),
  };
}

const isSafe = (url: URL | null) =>
  url &&
  !url.username &&
  !url.password &&
  /^(?:https:|http:\/\/(?:localhost|127\.[\d.]+|\[::1\])[:/])/.test(url.href);

function headersOf(json: string): Record<string, string> {
  try {
    const headers = JSON.parse(json) as Record<string, string>;
    if (Object.values(headers).every((value) => typeof value === 'string'))
      return Object.fromEntries(new Headers(headers));
  } catch {
    // an error of JSON.parse or Headers would quote the setting
  }
  throw notConfigured(
    'SQL_ENDPOINT_HEADERS must be a JSON object of headers, such as {"Authorization":"Bearer …"}',
  );
}

const notConfigured = (message: string) => new DatabaseError('not-configured', message);
