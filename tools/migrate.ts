// npm run db:migrate: applies the pending migrations.
import { openForCommand } from './database.ts';
import { runCommand } from './command.ts';
import { migrate } from './migrations.ts';

await runCommand(async () => {
  await using database = await openForCommand();
  const applied = await migrate(database.url);
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  if (applied.length === 0) process.stdout.write(`nothing to do: ${database.description} is up to date\n`);
});
