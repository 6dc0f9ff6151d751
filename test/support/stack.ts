import type { TestProject } from 'vitest/node';
import { type GatewayOptions, startGateway } from '../../gateway/server.ts';
import { startDatabase, WORKER_LOGIN } from './database.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { TOKEN } from './sql-endpoint.ts';
import { startWorker } from './worker.ts';

/** The complete service: the Worker in workerd, the SQL-over-HTTP endpoint, and a database. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Plain data, which vitest's global setup can pass to tests. */
export interface StackAddress {
  /** The Worker's origin, without a trailing slash. */
  readonly origin: string;
  /** The origin of the Worker's `directUrl`. */
  readonly directOrigin: string;
  /** Superuser URL of the database. */
  readonly databaseUrl: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackAddress;
  }
}

/** `vars` and `limits` are those of the Worker; `inspector` is whether to start its inspector. */
export type StackOptions = Parameters<typeof startWorker>[1] & {
  /** Whether the service has a database server of its own, as outside of vitest. */
  readonly ownServer?: boolean;
  /** By which texts in the database sort: see {@link startDatabase}. */
  readonly locale?: string;
  /** These two as for the gateway. */
  readonly maxResponseBytes?: number;
  readonly log?: NonNullable<GatewayOptions['log']>;
  /** Starts a proxy between the Worker and the SQL-over-HTTP endpoint. @returns the proxy's URL */
  readonly startProxy?: (endpoint: string) => Promise<string>;
  /**
   * Starts a connection pooler in front of the migrated database. @returns the URL of the Worker's
   * role through it
   */
  readonly startPooler?: (databaseUrl: string) => Promise<string>;
  /** The Worker's module; by default the service's. */
  readonly entry?: string;
};

/** The Worker's variables for a gateway with this token. */
export const workerVariables = ({
  url,
  connectionString,
}: Awaited<ReturnType<typeof startGateway>>) => ({
  SQL_ENDPOINT: url,
  SQL_ENDPOINT_HEADERS: JSON.stringify({ Authorization: `Bearer ${TOKEN}` }),
  DATABASE_URL: connectionString(WORKER_LOGIN),
});

/**
 * Vitest's global setup: starts one service for all files of the project, with PgBouncer if `npm
 * run pgbouncer` runs it.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startStack(
    process.env['TEST_PGBOUNCER'] ? { startPooler: startPgBouncer } : {},
  );

  project.provide('stack', stack.address);
  return () => stack.stop();
}

export async function startStack(options: StackOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const running = await startDatabase(options);
  stack.defer(() => running.stop());
  const { url: databaseUrl, server } = running;

  const {
    startProxy,
    startPooler,
    entry = 'src/worker.ts',
    vars,
    limits,
    inspector,
    ...rest
  } = options;
  const database = (await startPooler?.(databaseUrl)) ?? databaseUrl;
  const gateway = await startGateway({ database, token: TOKEN, ...rest });
  stack.defer(() => gateway.close({ now: true }));

  const worker = await startWorker(entry, {
    limits,
    inspector,
    vars: {
      ...vars,
      ...workerVariables(gateway),
      ...(startProxy && { SQL_ENDPOINT: await startProxy(gateway.url) }),
    },
  });

  stack.use(worker);

  const moved = stack.move();
  const address: StackAddress = {
    origin: worker.url.origin,
    directOrigin: worker.directUrl.origin,
    databaseUrl,
  };

  return {
    worker,
    address,
    /**
     * Stops the database server and starts it again, with the same data on the same port. It must
     * be the service's own.
     */
    restartDatabase: async () => server?.restart(),
    stop: () => moved.disposeAsync(),
  };
}
