// npm start: the whole service on this machine: database, SQL-over-HTTP endpoint, Worker.
import { randomBytes } from 'node:crypto';
import { UserError, runCommand } from './command.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { withConnection } from './connection.ts';
import { type Database, openDatabase } from './database.ts';
import { checkPortIsFree, whenHealthy } from './dev/ports.ts';
import { prepareDemo } from './dev/demo.ts';
import { printReady } from './dev/ready.ts';
import { type Stop, untilStopped } from './dev/signals.ts';
import { startWorker } from './dev/worker.ts';
import { migrate } from './migrations.ts';
import { startSqlGateway } from './sql-gateway.ts';

const DEFAULT_PORT = 8787;
/** Connections the endpoint opens to a Postgres server: what the Worker can have in flight for two exports. */
const POSTGRES_CONNECTIONS = 10;
/** The role that migration 0001 creates. */
const WORKER_ROLE = 'survey_export_worker';
/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';

await runCommand(async () => {
  await using cleanUp = new AsyncDisposableStack(); // in reverse order, whatever happens
  const stop = untilStopped();
  const port = portFrom(process.env['PORT']);
  const dataDir = process.env['DATA_DIR'] || '.data';
  await checkPortIsFree(port);

  const database = await openOwnDatabase(stop);
  if (!database) return;
  cleanUp.defer(() => database.closeNow());
  if (stop.requested) return;
  await migrate(database.url);
  if (database.kind === 'postgres') await checkRole(database.url);
  const demo = database.kind === 'embedded' && !stop.requested ? await prepareDemo(database.url, dataDir) : undefined;
  if (stop.requested) return;

  const password = randomBytes(24).toString('hex');
  const maxConnections = database.kind === 'embedded' ? 1 : POSTGRES_CONNECTIONS;
  const gateway = await startSqlGateway({ database: database.url, password, maxConnections });
  cleanUp.defer(() => gateway.close());

  const databaseName = new Client(database.url).database ?? ''; // never connected: it knows the default
  const worker = await startWorker({
    port,
    dataDir,
    vars: { SQL_ENDPOINT: gateway.url },
    secrets: {
      DATABASE_URL: `postgresql://${WORKER_ROLE}:${password}@localhost/${encodeURIComponent(databaseName)}`,
    },
  });
  cleanUp.defer(() => worker.stop());

  await Promise.race([whenHealthy(port, stop), worker.ended]);
  if (!stop.requested) printReady({ port, database: database.description, demo });
  await Promise.race([stop.promise, worker.ended]);
});

/**
 * Opens the database, but not an embedded one that another command is running: that one would take it away when it is
 * done, so its end is waited for.
 */
async function openOwnDatabase(stop: Stop): Promise<Database | undefined> {
  for (let told = false; !stop.requested; told = true) {
    const database = await openDatabase(process.env, stop.signal).catch(unlessRequested(stop));
    if (!database?.isBorrowed) return database;
    await database.closeNow();
    if (!told) process.stderr.write('Waiting for another command to finish with the embedded database …\n');
    await sleep(500);
  }
  return undefined;
}

/** What fails because of the stop is no failure. */
function unlessRequested(stop: Stop): (error: unknown) => undefined {
  return (error) => {
    if (!stop.requested) throw error;
  };
}

/** @throws UserError when the user at DATABASE_URL may not act as the Worker's role */
async function checkRole(url: string): Promise<void> {
  await withConnection(url, async (client) => {
    const { rows } = await client.query<{ name: string }>('select quote_ident(current_user) as name');
    const name = rows[0]?.name;
    await client.query(`set role ${WORKER_ROLE}`).catch((cause: unknown) => {
      if (!(cause instanceof DatabaseError && cause.code === INSUFFICIENT_PRIVILEGE)) throw cause;
      throw new UserError(
        `${name} may not act as the Worker's role, which another user of this server has made. ` +
          `As that user, or a superuser: GRANT ${WORKER_ROLE} TO ${name};`,
        { cause },
      );
    });
  });
}

function portFrom(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new UserError(`PORT must be an integer from 1 to 65535, not "${text}"`);
  return port;
}
