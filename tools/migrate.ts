// npm run db:migrate: applies the pending migrations.
import { openForCommand } from './database.ts';
import { commandLine, print, runCommand } from './command.ts';
import { migrate } from './migrations.ts';

const program = commandLine('npm run db:migrate --')
  .description(
    'Creates the tables of the service, and the role of the Worker, or brings them up to date.',
  )
  .addHelpText(
    'after',
    `
The database is DATABASE_URL, whose user has to be the tables' owner, or else that of the npm start that is running on
DATA_DIR (.data).`,
  )
  .action(async () => {
    const database = await openForCommand({ needsMigrations: false });
    const applied = await migrate(database.url);
    for (const name of applied) print(`applied ${name}`);
    if (applied.length === 0) print(`nothing to do: ${database.description} is up to date`);
  });

await runCommand(() => program.parseAsync());
