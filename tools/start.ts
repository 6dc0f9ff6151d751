// npm start: the whole service on this machine: database, gateway, Worker. With --watch, npm run
// dev.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Option } from 'commander';
import { startGateway } from '../gateway/server.ts';
import { commandLine, print, runCommand, UserError } from './command.ts';
import { openDatabase } from './database.ts';
import { DEMO } from './demo-data.ts';
import { migrate } from './migrations.ts';
import { checkNotInUse, startEmbedded } from './postgres/embedded.ts';
import { prepareDemo } from './start/demo.ts';
import { checkPortIsFree, whenHealthy } from './ports.ts';
import { startWorkerProcess } from './start/worker.ts';
import { chooseLogin, WORKER_ROLE } from './worker-role.ts';

interface StartOptions {
  watch?: boolean;
  demo: boolean;
}

const DEFAULT_PORT = 8787;
const PARENT_CHECK_MS = 250;
/** `npm start` promises to stop within five seconds. */
const DEADLINE_MS = 4_500;

const program = commandLine(process.argv.includes('--watch') ? 'npm run dev --' : 'npm start --')
  .description(
    'Starts the whole service on this machine. "npm run dev" does the same, and reloads what you change.',
  )
  .option('--no-demo', 'load no demo data into an empty database')
  .addOption(new Option('--watch').hideHelp()) // npm run dev
  .addHelpText(
    'after',
    `
Environment variables:
  PORT          the port on 127.0.0.1 (default: ${DEFAULT_PORT})
  DATA_DIR      where the database and the local KV keep their data (default: .data)
  DATABASE_URL  your own Postgres, version 15 or newer, to use instead of the one from npm`,
  );

await runCommand(async () => {
  const options = program.parse().opts<StartOptions>();
  process.umask(0o077); // DATA_DIR holds keys and responses
  const stop = untilStopped();
  await using cleanUp = new AsyncDisposableStack();
  await serve(options, stop, cleanUp).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
});

/**
 * Listens for Ctrl-C, SIGTERM and a closed terminal. npm does not always forward a signal, so the
 * end of a parent npm counts as a request to stop too. After {@link DEADLINE_MS} the process exits,
 * whatever it is waiting for.
 *
 * @returns a signal that the request aborts
 */
function untilStopped(): AbortSignal {
  const request = new AbortController();
  const stop = () => {
    if (request.signal.aborted) return;
    request.abort();
    setTimeout(() => process.exit(1), DEADLINE_MS).unref();
  };

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (['start', 'dev'].includes(process.env['npm_lifecycle_event'] ?? '')) {
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
  }

  return request.signal;
}

/**
 * Runs the service until it is stopped.
 *
 * @param cleanUp receives what it starts
 * @throws Error if the service cannot be started, or a part of it ends; any error once it is
 * stopped
 */
async function serve(
  { watch: isWatching = false, demo: wantsDemo }: StartOptions,
  stop: AbortSignal,
  cleanUp: AsyncDisposableStack,
): Promise<void> {
  const stopped = once(stop, 'abort');
  const port = portFrom(process.env['PORT']);
  const dataDir = process.env['DATA_DIR'] || '.data';
  // Checked first, since a process that holds the data may hold the port as well.
  const isEmbedded = !process.env['DATABASE_URL'];
  if (isEmbedded) await checkNotInUse(dataDir);
  await checkPortIsFree(port);

  // bundles the Worker while the database starts
  const worker = cleanUp.use(await startWorkerProcess(isWatching));
  const embedded = cleanUp.use(isEmbedded ? await startEmbedded(dataDir, stop) : undefined);
  stop.throwIfAborted();
  const database = embedded ?? (await openDatabase(process.env, stop));
  stop.throwIfAborted();
  await migrate(database.url);
  stop.throwIfAborted();
  const demoKey = embedded && wantsDemo ? await prepareDemo(database.url, dataDir) : undefined;
  stop.throwIfAborted();

  const login = await chooseLogin(database.url, { isEmbedded });
  const token = randomBytes(24).toString('hex');
  const gateway = await startGateway({ database: login.database, token });
  cleanUp.defer(() => gateway.close({ now: true }));

  await worker.start({
    port,
    dataDir,
    vars: {
      SQL_ENDPOINT: gateway.url,
      SQL_ENDPOINT_HEADERS: JSON.stringify({ Authorization: `Bearer ${token}` }),
      DATABASE_URL: gateway.connectionString(login),
    },
  });

  cleanUp.use(worker); // has to stop before the endpoint and the database

  const failed = Promise.race([worker.ended, embedded?.ended ?? worker.ended]);
  await Promise.race([whenHealthy(port, stop), failed]);
  stop.throwIfAborted();
  printReady(port, database.description, login.user, demoKey);
  await Promise.race([stopped, failed]);
}

function portFrom(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw new UserError(`PORT must be an integer from 1 to 65535, not "${text}"`);
  return port;
}

/**
 * Prints where the service is and how to use it. Scripts wait for the `API` line and read the `Key`
 * line.
 */
function printReady(
  port: number,
  database: string,
  user: string,
  demoKey: string | undefined,
): void {
  const api = `http://127.0.0.1:${port}/api/v1`;
  const lines = [
    '',
    `Page  http://127.0.0.1:${port}/`,
    `API   ${api}`,
    `Docs  http://127.0.0.1:${port}/docs`,
    ...(demoKey ? [`Key   ${demoKey}`] : []),
    `Data  ${database}`,
    ...(user === WORKER_ROLE ? [] : [`Role  ${WORKER_ROLE}, with SET ROLE in a login of ${user}`]),
    '',
    ...(demoKey
      ? [
          'Open the page and enter the key. Or, in another terminal:',
          `curl -fsS -H 'Authorization: Bearer ${demoKey}' '${api}/responses/csv?survey=${encodeURIComponent(DEMO.survey)}' -o responses.csv`,
        ]
      : [
          'Copy your surveys, in another terminal with the same DATABASE_URL or DATA_DIR:',
          'npm run db:import -- --help',
          'Issue a key, also to an account without surveys, and enter it in the page:',
          'npm run keys -- issue --email you@example.org --create-account',
        ]),
    '',
    'Ctrl-C stops it.',
    '',
  ];

  print(lines.join('\n'));
}
