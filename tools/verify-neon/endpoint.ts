import { neonConfig } from '@neondatabase/serverless';
import { UserError } from '../command.ts';
import { isNeonHost } from '../neon-host.ts';

/** Parts of a connection string that differ from the owner's. */
export interface Identity {
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly host?: string;
}

export type Headers = Readonly<Record<string, string>>;

/** A suspended database wakes up in seconds; a large result takes as long as it takes to arrive. */
const TIMEOUT_MS = 180_000;

/** The driver's own, before the service's code changes it. */
const { fetchEndpoint } = neonConfig;

/**
 * The SQL-over-HTTP endpoint of a database, as `@neondatabase/serverless` derives it.
 *
 * @param databaseUrl `postgres://` URL
 * @throws UserError if its host is not one of Neon
 */
export function endpointOf(databaseUrl: string): string {
  const { hostname, port } = new URL(databaseUrl);
  if (!isNeonHost(hostname))
    throw new UserError(`--endpoint: ${hostname} is not a host of Neon, so give the URL of its SQL endpoint`);
  return typeof fetchEndpoint === 'string' ? fetchEndpoint : fetchEndpoint(hostname, port || 5432, {});
}

/** A SQL-over-HTTP endpoint, queried with the driver's headers. */
export class SqlEndpoint {
  readonly url: string;
  readonly #databaseUrl: string;
  readonly #signal: AbortSignal | undefined;

  /**
   * @param databaseUrl `postgres://` URL for the header `Neon-Connection-String`
   * @param signal cancels what is running
   */
  constructor(url: string, databaseUrl: string, signal?: AbortSignal) {
    this.url = url;
    this.#databaseUrl = databaseUrl;
    this.#signal = signal;
  }

  /** The connection string of an identity, by default the owner's. */
  connectionString({ user, password, database, host }: Identity = {}): string {
    const url = new URL(this.#databaseUrl);
    url.username = user ?? url.username;
    url.password = password ?? url.password;
    url.pathname = database ?? url.pathname;
    url.hostname = host ?? url.hostname;
    return url.href;
  }

  /** The header that sends a request as another identity. */
  as(identity: Identity): Headers {
    return { 'Neon-Connection-String': this.connectionString(identity) };
  }

  /** @param body a text is sent as it is, anything else as JSON */
  async post(body: unknown, headers: Headers = {}, signal?: AbortSignal) {
    const signals = [signal, this.#signal, AbortSignal.timeout(TIMEOUT_MS)].filter((one) => one !== undefined);
    const response = await fetch(this.url, {
      method: 'POST',
      headers: {
        ...this.as({}),
        'Neon-Raw-Text-Output': 'true',
        'Neon-Array-Mode': 'true',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.any(signals),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The status and the fields of an error. A body that is not JSON is its `message`. */
  async failure(body: unknown, headers?: Headers): Promise<Record<string, unknown>> {
    const { status, text } = await this.post(body, headers);
    try {
      return { status, ...(JSON.parse(text) as object) };
    } catch {
      return { status, message: text };
    }
  }

  /** The rows of a statement. @throws Error unless the status is 200 */
  async rowsOf(
    query: string,
    params: readonly (string | null)[] = [],
    headers?: Headers,
  ): Promise<(string | null)[][]> {
    const { status, text } = await this.post({ query, params }, headers);
    if (status !== 200) throw new Error(`${query.slice(0, 80)}: status ${status}, ${text.slice(0, 300)}`);
    return (JSON.parse(text) as { rows: (string | null)[][] }).rows;
  }
}
