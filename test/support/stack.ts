import { randomBytes } from 'node:crypto';
import { migrate } from '../../tools/migrations.ts';
import { startSqlGateway } from '../../tools/sql-gateway.ts';
import { startPostgres } from './postgres.ts';
import { type RunningWorker, startWorker } from './worker.ts';

/** The service as a whole: the Worker in workerd, the SQL-over-HTTP endpoint, a database. */
export interface Stack {
  /** What is needed to use it, as plain data: tests get it from their global set-up. */
  readonly address: StackAddress;
  readonly worker: RunningWorker;
  /** Stops the database alone, at once and for good. */
  stopDatabase(): Promise<void>;
  /** Stops the database and starts it again, with the same data on the same port. */
  restartDatabase(): Promise<void>;
  stop(): Promise<void>;
}

export interface StackAddress {
  /** The Worker's origin, without a slash at the end. */
  readonly origin: string;
  /** Superuser URL of the database. */
  readonly databaseUrl: string;
}

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

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  await using stack = new AsyncDisposableStack();
  const server = await startPostgres();
  stack.defer(() => server.stop());
  const databaseUrl = await server.createDatabase();
  await migrate(databaseUrl);

  const password = randomBytes(24).toString('hex');
  const {
    behind = async (endpoint: string) => endpoint,
    entry = 'src/worker.ts',
    vars,
    limits,
    inspector,
    ...rest
  } = options;
  const gateway = await startSqlGateway({ database: databaseUrl, password, ...rest });
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
    stopDatabase: () => server.stop(),
    restartDatabase: () => server.restart(),
    address: { origin: worker.url.origin, databaseUrl },
    stop: () => running.disposeAsync(),
  };
}
