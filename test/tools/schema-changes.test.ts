// Which commands may create or change the tables and the Worker's role.
import { describe, expect, test } from 'vitest';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { migrate } from '../../tools/migrations.ts';
import { createEmptyDatabase, query, startDatabase } from '../support/database.ts';
import { loadFiles, writeFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runHere } from '../support/run-here.ts';

const LAST = '0010_number_distribution.sql';
const EMAIL = 'ann@example.org';

const folder = await newFolder();

async function createOlder(): Promise<string> {
  const { url } = await startDatabase();
  await query(url, 'delete from schema_migrations where name = $1', [LAST]);
  await query(url, 'drop function number_distribution');
  await query(url, 'insert into users (email) values ($1)', [EMAIL]);
  return url;
}

describe('on a database that has an older schema', async () => {
  const url = await createOlder();
  const { forms, responses } = await writeFiles(folder);
  // A command that wrote something, even if it rolled that back, would fail with another error.
  await query(
    url,
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`,
  );

  // Commands that read, or change what is stored, but never the schema.
  test.each<[string, string, string[]]>([
    ['keys -- list', 'keys.ts', ['list']],
    ['db:remove', 'remove.ts', ['--email', EMAIL, '--survey', 'A', '--yes']],
    [
      'db:import -- --dry-run',
      'import.ts',
      ['--email', EMAIL, '--forms', forms, '--responses', responses, '--dry-run'],
    ],
    ['db:worker-url', 'worker-url.ts', []],
  ])('npm run %s writes nothing and names db:migrate', async (_, tool, args) => {
    const { status, stdout, stderr } = await runHere(tool, args, { DATABASE_URL: url });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      /lacks migrations, from 0010_\w+\.sql on: run "npm run db:migrate" first\.\n$/,
    );
  });

  test('deploy --check writes nothing and names db:migrate', async () => {
    expect((await databaseProblems(url)).join()).toContain('run "npm run db:migrate"');
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
  const { forms, responses } = await writeFiles(folder);

  // What they write could lack limits of keys that the newer version has.
  test.each<[string, string[]]>([
    ['keys.ts', ['list']],
    ['keys.ts', ['issue', '--email', EMAIL, '--create-account']],
    ['migrate.ts', []],
    ['import.ts', ['--email', EMAIL, '--forms', forms, '--responses', responses]],
    ['remove.ts', ['--email', EMAIL, '--survey', 'A']],
  ])('%s %j is refused', async (tool, args) => {
    const { status, stdout, stderr } = await runHere(tool, args, { DATABASE_URL: url });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(
      'The database has migrations of a newer version of this service (9999_next.sql): use',
    );
    expect(await query(url, 'select from users')).toEqual([]);
  });

  test('deploy --check finds nothing to say about them, since an older Worker can be deployed', async () => {
    expect((await databaseProblems(url)).join()).not.toContain('migration');
  });
});
