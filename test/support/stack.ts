import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../tools/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { startSqlGateway } from '../../tools/sql-gateway.ts';
import { emptyDataFolder } from './embedded.ts';
import { startPostgres } from './postgres.ts';
import { type RunningWorker, startWorker } from './worker.ts';

/** The service as a whole: the Worker in workerd, the SQL-over-HTTP endpoint, a database. */
export interface Stack {
  /** What is needed to use it, as plain data: tests get it from their global set-up. */
  readonly address: StackAddress;
  readonly worker: RunningWorker;
  /** Stops the database alone, at once and for good. */
  stopDatabase(): Promise<void>;
  /** Stops a Postgres server and starts it again, with the same data in the same place. */
  restartDatabase(): Promise<void>;
  stop(): Promise<void>;
}

export interface StackAddress {
  /** The Worker's origin, without a slash at the end. */
  readonly origin: string;
  /** Superuser URL of the database. */
  readonly databaseUrl: string;
  readonly database: DatabaseKind;
}

export type DatabaseKind = 'pglite' | 'postgres';

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackAddress;
  }
}

/** What the tests change about the service to reach its limits sooner. */
export interface StackOptions {
  /** The endpoint's limit for an answer. */
  readonly maxResponseBytes?: number;
  /** Puts something between the Worker and the endpoint: gets the endpoint's address, returns its own. */
  readonly behind?: (endpoint: string) => Promise<string>;
  /** Variables of the Worker, beside those it always has. */
  readonly vars?: Record<string, string>;
  /** Requests per period, by the name of a rate limit's binding. */
  readonly limits?: Record<string, number>;
  /** Whether what is in the Worker's memory can be looked at. */
  readonly inspector?: boolean;
  /** The Worker's module, if not the service's own. */
  readonly entry?: string;
}

export async function startStack(kind: DatabaseKind, options: StackOptions = {}): Promise<Stack> {
  await using stack = new AsyncDisposableStack();
  const {
    url: databaseUrl,
    stop: stopDatabase,
    restart: restartDatabase,
  } = kind === 'pglite' ? await startPglite(stack) : await startServer(stack);
  await migrate(databaseUrl);

  const password = randomBytes(24).toString('hex');
  const maxConnections = kind === 'pglite' ? 1 : 10;
  const {
    behind = async (endpoint: string) => endpoint,
    entry = 'src/worker.ts',
    vars,
    limits,
    inspector,
    ...rest
  } = options;
  const gateway = await startSqlGateway({ database: databaseUrl, password, maxConnections, ...rest });
  stack.defer(() => gateway.close());

  const worker = await startWorker(entry, {
    limits,
    inspector,
    vars: {
      ...vars,
      SQL_ENDPOINT: await behind(gateway.url),
      DATABASE_URL: `postgresql://survey_export_worker:${password}@localhost${new URL(databaseUrl).pathname}`,
    },
  });
  stack.use(worker);

  const running = stack.move();
  return {
    worker,
    stopDatabase,
    restartDatabase,
    address: { origin: worker.url.origin, databaseUrl, database: kind },
    stop: () => running.disposeAsync(),
  };
}

interface StartedDatabase {
  readonly url: string;
  readonly stop: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

async function startPglite(stack: AsyncDisposableStack): Promise<StartedDatabase> {
  const { path } = stack.use(await emptyDataFolder('survey-export-test-'));
  const database = stack.use(await openDatabase({ DATA_DIR: path }));
  return {
    url: database.url,
    stop: () => database.closeNow(),
    restart: () => Promise.reject(new Error('PGlite is not a server')),
  };
}

async function startServer(stack: AsyncDisposableStack): Promise<StartedDatabase> {
  const server = await startPostgres();
  stack.defer(() => server.stop());
  return { url: await server.createDatabase(), stop: () => server.stop(), restart: () => server.restart() };
}
