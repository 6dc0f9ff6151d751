// npm run --silent db:worker-url: gives the Worker's role a new password and prints the Worker's
// DATABASE_URL.
import { connectionString } from '../gateway/request.ts';
import { commandLine, note, print, runCommand, UserError } from './command.ts';
import { withLockTimeout } from './connection.ts';
import { openForCommand } from './database.ts';
import { pooledHost } from './neon-host.ts';
import { otherWorkerDatabases, setWorkerPassword, WORKER_ROLE } from './worker-role.ts';

const program = commandLine('npm run --silent db:worker-url --')
  .description(
    `Sets a new random password for ${WORKER_ROLE}, and prints the Worker's DATABASE_URL, which contains it, on stdout.`,
  )
  .addHelpText(
    'after',
    `
Set DATABASE_URL to the URL of the owner, who ran "npm run db:migrate". The password applies to every database of the server,
and nothing can log in with the old one. For a Neon host, the printed URL has the host of the connection pooler. For any other,
the gateway's GATEWAY_DATABASE has to name the same host, port and database, and Postgres has to ask for passwords (pg_hba.conf).

Example:
  url=$(npm run --silent db:worker-url) && printf %s "$url" | npx wrangler secret put DATABASE_URL --env production`,
  )
  .action(async () => {
    if (!process.env['DATABASE_URL'])
      throw new UserError(
        "Set DATABASE_URL to the owner's URL of the deployed service's database. (The embedded database serves npm start only.)",
      );
    const database = await openForCommand();
    const url = await withLockTimeout(database.url, async (client) => {
      const others = await otherWorkerDatabases(client);
      const login = await setWorkerPassword(client);
      const also =
        others.length > 0 ? `, also for ${others.join(', ')}, which the role can read` : '';
      note(
        `The new password applies to every database of this server${also}. Whatever uses the old one can no longer log in.`,
      );

      const { host, port, database: name = '' } = client;
      return connectionString({ host: pooledHost(host), port, database: name }, login);
    });

    print(url);
  });

await runCommand(() => program.parseAsync());
