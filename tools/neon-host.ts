/**
 * A Neon compute has two host names. Through the one with `-pooler`, clients share connections
 * (PgBouncer, transaction mode): right for the Worker, wrong for commands, which need sessions.
 * https://neon.com/docs/connect/connection-pooling
 */
const NEON_HOST = /^(ep-[\w-]+?)(?:-pooler)?(\.[\w.-]+\.neon\.tech)$/i;

/**
 * A compute's region, after a label such as `c-2` on newer hosts.
 * https://neon.com/docs/introduction/regions
 */
const NEON_REGION = /\.([\w-]+)\.(aws|azure)\.neon\.tech$/i;

/**
 * The region of a Neon host in the notation of Cloudflare's `placement`, such as
 * `aws:eu-central-1`; undefined for other hosts.
 */
export function regionOf(host: string): string | undefined {
  const [, region, provider] = NEON_REGION.exec(host) ?? [];
  return region && `${provider}:${region}`.toLowerCase();
}

/** The host that shares connections; other hosts stay as they are. */
export const pooledHost = (host: string): string => host.replace(NEON_HOST, '$1-pooler$2');

/** The host whose connections are sessions; other hosts stay as they are. */
export const directHost = (host: string): string => host.replace(NEON_HOST, '$1$2');
