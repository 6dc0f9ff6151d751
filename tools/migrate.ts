// npm run db:migrate: applies the pending migrations.
import { openForCommand } from './database.ts';
import { runCommand } from './command.ts';
import { withConnection } from './connection.ts';
import { findMigrations, migrate } from './migrations.ts';

await runCommand(async () => {
  await using database = await openForCommand({ creates: true, needsMigrations: false });
  const applied = await migrate(database.url);
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  if (applied.length > 0) return;
  const { unknown } = await withConnection(database.url, findMigrations);
  const state =
    unknown.length > 0 ? `has migrations of a newer version of this service: ${unknown.join(', ')}` : 'is up to date';
  process.stdout.write(`nothing to do: ${database.description} ${state}\n`);
});
