// npm run db:migrate: applies the pending migrations.
import { openDatabase } from './database.ts';
import { runCommand } from './command.ts';
import { migrate } from './migrations.ts';

await runCommand(async () => {
  await using database = await openDatabase();
  const applied = await migrate(database.url);
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  if (applied.length === 0) process.stdout.write('nothing to do: the database is up to date\n');
});
