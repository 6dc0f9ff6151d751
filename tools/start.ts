// npm start: the whole service on this machine: database, SQL-over-HTTP endpoint, Worker. With --watch, npm run dev.
import { randomBytes } from 'node:crypto';
import { Option } from 'commander';
import { Client } from 'pg';
import { commandLine, runCommand, UserError } from './command.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrations.ts';
import { checkNotInUse, startEmbedded } from './postgres/embedded.ts';
import { startSqlGateway } from './sql-gateway.ts';
import { prepareDemo } from './start/demo.ts';
import { chooseLogin } from './start/login.ts';
import { checkPortIsFree, whenHealthy } from './start/ports.ts';
import { printReady } from './start/ready.ts';
import { type Stop, untilStopped } from './start/signals.ts';
import { startWorkerProcess } from './start/worker.ts';
import { WORKER_ROLE } from './worker-role.ts';

const DEFAULT_PORT = 8787;

const program = commandLine('npm start --')
  .description('Starts the whole service on this machine. "npm run dev" does the same, and reloads what you change.')
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
  const { watch: isWatching = false, demo: wantsDemo } = program.parse().opts<{ watch?: boolean; demo: boolean }>();
  process.umask(0o077); // DATA_DIR holds keys and responses
  await using cleanUp = new AsyncDisposableStack();
  const stop = untilStopped();
  const port = portFrom(process.env['PORT']);
  const dataDir = process.env['DATA_DIR'] || '.data';
  // Checked first, since a process that holds the data may hold the port as well.
  const isEmbedded = !process.env['DATABASE_URL'];
  if (isEmbedded) await checkNotInUse(dataDir);
  await checkPortIsFree(port);

  const worker = await startWorkerProcess(isWatching); // bundles the Worker while the database starts
  cleanUp.use(worker);
  const embedded = isEmbedded ? await startEmbedded(dataDir, stop.signal).catch(unlessRequested(stop)) : undefined;
  cleanUp.use(embedded);
  if (stop.requested) return;
  const database = embedded ?? (await openDatabase(process.env, stop.signal).catch(unlessRequested(stop)));
  if (!database || stop.requested) return;
  await migrate(database.url);
  const demo = embedded && wantsDemo && !stop.requested ? await prepareDemo(database.url, dataDir) : undefined;
  if (stop.requested) return;

  const login = await chooseLogin(database.url, { isEmbedded });
  const password = randomBytes(24).toString('hex'); // the gateway's
  const gateway = await startSqlGateway({ database: login.url, password });
  cleanUp.defer(() => gateway.close());

  const databaseName = new Client(database.url).database ?? ''; // never connected: it knows the default
  await worker.start({
    port,
    dataDir,
    vars: {
      SQL_ENDPOINT: gateway.url,
      DATABASE_URL: `postgresql://${WORKER_ROLE}:${password}@localhost/${encodeURIComponent(databaseName)}`,
    },
  });
  cleanUp.use(worker); // has to stop before the endpoint and the database

  const failed = Promise.race([worker.ended, embedded?.ended ?? worker.ended]);
  await Promise.race([whenHealthy(port, stop), failed]);
  if (!stop.requested) printReady({ port, database: database.description, login, demo });
  await Promise.race([stop.promise, failed]);
});

/** Ignores errors that the stop has caused. */
function unlessRequested(stop: Stop): (error: unknown) => undefined {
  return (error) => {
    if (!stop.requested) throw error;
  };
}

function portFrom(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new UserError(`PORT must be an integer from 1 to 65535, not "${text}"`);
  return port;
}
