// Which commands may create or change the tables and the Worker's role.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openForCommand } from '../../tools/database.ts';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { createEmptyDatabase, query, startDatabase } from '../support/database.ts';
import { csvOf, responseRow } from '../support/export-files.ts';
import { UNKNOWN_ID } from '../support/keys.ts';
import { writeFiles } from '../support/load-files.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type Outcome, startTool } from '../support/run-tool.ts';

const LAST = '0007_end_abandoned_queries.sql';
const EMAIL = 'ann@example.org';

let folder: string;
/** Without the Worker's role, until a test migrates a database. */
let fresh: TestPostgres;
let files: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-schema-'));
  fresh = await startPostgres();
  const { forms, responses } = await writeFiles(folder);
  files = ['--email', EMAIL, '--forms', forms, '--responses', responses];
});
afterAll(async () => {
  await fresh?.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (tool: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> =>
  startTool(tool, args, { DATA_DIR: join(folder, 'nowhere'), ...env }).outcome;

/** Commands that read, or change what is stored, but never the schema. */
const READERS: [string, string, string[]][] = [
  ['keys -- list', 'keys.ts', ['list']],
  ['keys -- rotate', 'keys.ts', ['rotate', UNKNOWN_ID]],
  ['keys -- revoke', 'keys.ts', ['revoke', UNKNOWN_ID]],
  ['db:remove', 'remove.ts', ['--email', EMAIL, '--survey', 'A', '--yes']],
  ['db:import -- --dry-run', 'import.ts', ['--dry-run']],
];
const argsOf = (tool: string, args: string[]) => (tool === 'import.ts' ? [...files, ...args] : args);

/** What a rolled-back transaction leaves as it was. */
const schemaOf = async (url: string) => ({
  tables: await query(url, `select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`),
  roles: await query(url, 'select rolname, rolpassword from pg_authid order by 1'),
});

async function createOlder(): Promise<string> {
  const { url } = await startDatabase();
  await query(url, 'delete from schema_migrations where name = $1', [LAST]);
  await query(url, 'insert into users (email) values ($1)', [EMAIL]);
  return url;
}

describe('on a database that has an older schema', () => {
  let url: string;
  beforeAll(async () => {
    url = await createOlder();
    // A command that wrote something, even if it rolled that back, would fail with another error.
    await query(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  });

  test.each([...READERS, ['db:worker-url', 'worker-url.ts', []] as (typeof READERS)[0]])(
    'npm run %s writes nothing and names db:migrate',
    async (_name, tool, args) => {
      const { status, stdout, stderr } = await run(tool, argsOf(tool, args), { DATABASE_URL: url });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/lacks migrations, from 0007_\w+\.sql on: run "npm run db:migrate" first\.\n$/);
    },
  );

  test('deploy --check writes nothing and names db:migrate', async () => {
    expect((await databaseProblems(url)).join()).toContain('run "npm run db:migrate"');
  });
});

test('a command that needs tables names db:migrate on an empty database', async () => {
  const refusal = 'lacks migrations, from 0001_initial.sql on: run "npm run db:migrate" first.';
  await expect(openForCommand({ env: { DATABASE_URL: await createEmptyDatabase() } })).rejects.toThrow(refusal);
});

test.each([
  ['an empty database', createEmptyDatabase],
  ['an older schema', createOlder],
])('npm run keys -- issue and db:import migrate %s if they store something', async (_, create) => {
  for (const [tool, args] of [
    ['keys.ts', ['issue', '--email', EMAIL, '--create-account']],
    ['import.ts', files],
  ] as const) {
    const database = await create();
    const { status, stderr } = await run(tool, args, { DATABASE_URL: database });
    expect(status).toBe(0);
    expect(stderr).toContain(LAST);
    expect(await migrate(database)).toEqual([]);
    expect(await query(database, 'select email from users')).toEqual([{ email: EMAIL }]);
  }
});

describe('on an empty database, a command that fails leaves no table and no role:', () => {
  beforeAll(async () => {
    await writeFiles(folder, { suffix: '.bad', responses: csvOf([responseRow(), responseRow({ surveyid: 'abc' })]) });
    await writeFile(join(folder, 'nothing.csv'), 'surveyid,shortcode,survey_name,version,survey_created,metadata\n');
  });

  test.each<[string, string, () => string[], string]>([
    [
      'db:import with a bad row',
      'import.ts',
      () => files.map((file) => file.replace('responses.csv', 'responses.bad')),
      'line 3: surveyid',
    ],
    [
      'db:import with a row that Postgres refuses',
      'import.ts',
      () => files.map((file) => file.replace('forms.csv', 'nothing.csv')),
      'line 2: surveyid: "3f1c6c5e',
    ],
    [
      'db:import of a missing file',
      'import.ts',
      () => files.map((file) => file.replace('forms.csv', 'nowhere.csv')),
      'there is no such file',
    ],
    ['db:import for a bad address', 'import.ts', () => ['--email', 'x', ...files.slice(2)], 'is not an e-mail address'],
    [
      'keys -- issue for an unknown account',
      'keys.ts',
      () => ['issue', '--email', EMAIL],
      '"npm run db:import" creates one with its data, --create-account one without.',
    ],
    [
      'keys -- issue with a bad lifetime',
      'keys.ts',
      () => ['issue', '--email', EMAIL, '--create-account', '--expires', '90'],
      'is not a duration',
    ],
  ])('%s', async (_, tool, args, message) => {
    const url = await fresh.createDatabase();
    const before = await schemaOf(url);
    const { status, stdout, stderr } = await run(tool, args(), { DATABASE_URL: url });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(await schemaOf(url)).toEqual(before);
  });
});

test('a database with migrations of a newer version is used, and db:migrate names them', async () => {
  const url = await createOlder();
  await migrate(url);
  await query(url, `insert into schema_migrations (name) values ('9999_next.sql')`);
  expect(await run('keys.ts', ['list'], { DATABASE_URL: url })).toMatchObject({ status: 0 });
  const { status, stdout } = await run('migrate.ts', [], { DATABASE_URL: url });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^nothing to do: .* has migrations of a newer version of this service: 9999_next\.sql\n$/);
});

const EVERY_COMMAND: [string, string, string[]][] = [
  ...READERS,
  ['keys -- issue', 'keys.ts', ['issue', '--email', EMAIL]],
  ['db:migrate', 'migrate.ts', []],
  ['db:import', 'import.ts', []],
  ['verify -- --revocation', 'verify.ts', ['--url', 'http://127.0.0.1:1', '--key', 'x', '--revocation']],
];

test.each(EVERY_COMMAND)('npm run %s needs DATABASE_URL or npm start, and says so', async (_, tool, args) => {
  const DATA_DIR = join(folder, 'nowhere');
  expect(await run(tool, argsOf(tool, args), { DATABASE_URL: '', DATA_DIR })).toEqual({
    status: 1,
    stdout: '',
    stderr: `There is no database to use: set DATABASE_URL, or let "npm start" (or "npm run dev") run on the DATA_DIR ${DATA_DIR} meanwhile.\n`,
  });
  expect(existsSync(DATA_DIR)).toBe(false);
});
