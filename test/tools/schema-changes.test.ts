// Which commands may create or change the tables and the Worker's role.
import { describe, expect, test } from 'vitest';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { migrate } from '../../tools/migrations.ts';
import { createEmptyDatabase, query, startDatabase } from '../support/database.ts';
import { loadFiles, writeFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { refusal } from '../support/expected.ts';
import { runHere } from '../support/run-here.ts';

const LAST = '0010_number_distribution.sql';
const EMAIL = 'ann@example.org';

const folder = await newFolder();
const { forms, responses } = await writeFiles(folder);
const IMPORT = `--email ${EMAIL} --forms ${forms} --responses ${responses}`;

async function createOlder(): Promise<string> {
  const { url } = await startDatabase();
  await query(url, 'delete from schema_migrations where name = $1', [LAST]);
  await query(url, 'drop function number_distribution');
  await query(url, 'insert into users (email) values ($1)', [EMAIL]);
  return url;
}

describe('on a database that has an older schema', async () => {
  const url = await createOlder();
  // A command that wrote something, even if it rolled that back, would fail with another error.
  await query(
    url,
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`,
  );

  // Commands that read, or change what is stored, but never the schema.
  test.each([
    ['keys.ts', 'list'],
    ['remove.ts', `--email ${EMAIL} --survey A --yes`],
    ['import.ts', `--dry-run ${IMPORT}`],
    ['worker-url.ts', ''],
  ])('%s writes nothing and names db:migrate', async (tool, args) => {
    const message = `lacks migrations, from ${LAST} on: run "npm run db:migrate" first.\n`;
    expect(await runHere(tool, args, { DATABASE_URL: url })).toEqual(refusal(message));
  });

  test('deploy --check writes nothing, and names the migrations and db:migrate', async () => {
    expect((await databaseProblems(url)).join()).toContain(
      `lacks the migrations ${LAST}; run "npm run db:migrate"`,
    );
  });
});

test.each([
  ['an empty database', createEmptyDatabase],
  ['an older schema', createOlder],
])('npm run keys -- issue and db:import migrate %s if they store something', async (_, create) => {
  const notices: string[] = [];
  const onNotice = (notice: string) => void notices.push(notice);
  for (const store of [
    (url: string) => issueKey(url, { email: EMAIL, createAccount: true, name: 'key', onNotice }),
    (url: string) => loadFiles(url, folder, { email: EMAIL }, { onNotice }),
  ]) {
    const url = await create();
    await store(url);
    expect(notices.splice(0).join()).toContain(LAST);
    expect(await migrate(url)).toEqual([]);
    expect(await query(url, 'select email from users')).toEqual([{ email: EMAIL }]);
  }
});

describe('on a database that has migrations of a newer version', async () => {
  const { url } = await startDatabase();
  await query(url, `insert into schema_migrations (name) values ('9999_next.sql')`);

  // What they write could lack limits of keys that the newer version has.
  test.each([
    ['keys.ts', 'list'],
    ['keys.ts', `issue --email ${EMAIL} --create-account`],
    ['migrate.ts', ''],
    ['import.ts', IMPORT],
    ['remove.ts', `--email ${EMAIL} --survey A`],
  ])('%s (%#) is refused', async (tool, args) => {
    const message =
      'The database has migrations of a newer version of this service (9999_next.sql): use';
    expect(await runHere(tool, args, { DATABASE_URL: url })).toEqual(refusal(message));
    expect(await query(url, 'select from users')).toEqual([]);
  });

  test('deploy --check finds nothing to say about them, since an older Worker can be deployed', async () => {
    expect((await databaseProblems(url)).join()).not.toContain('migration');
  });
});
