import { afterAll, describe, expect, test, vi } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { postgresUrl } from '../../tools/database.ts';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { gatewayProblems } from '../../tools/deploy/gateway.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { migrate } from '../../tools/migrations.ts';
import { directHost, pooledHost } from '../../tools/neon-host.ts';
import { query } from '../support/database.ts';
import { containing } from '../support/expected.ts';
import { csvOf, responseRow } from '../support/export-files.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { loadFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { startPostgres } from '../support/postgres.ts';
import { runHere } from '../support/run-here.ts';
import { chooseLogin, setWorkerPassword, WORKER_ROLE } from '../../tools/worker-role.ts';
import { startTestGateway, TOKEN } from '../support/sql-endpoint.ts';

const HEADERS = JSON.stringify({ Authorization: `Bearer ${TOKEN}` });
const newUrl = async (url: string) => {
  const { user: username, password } = await withConnection(url, setWorkerPassword);
  return Object.assign(new URL(url), { username, password }).href;
};
/** The URL of another user, with the user's name as password, or of another database. */
const urlOf = (url: string, username: string, pathname = new URL(url).pathname) =>
  Object.assign(new URL(url), { username, password: username, pathname }).href;
const userOf = async (url: string) =>
  (await query<{ user: string }>(url, 'select current_user as user'))[0]?.user;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

// First, while the server does not have the Worker's role.
test('on an empty database, a command that fails leaves no table and no role', async () => {
  const empty = await postgres.createDatabase();
  const schema = async () => [
    await query(
      empty,
      `select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`,
    ),
    await query(empty, 'select rolname, rolpassword from pg_authid order by 1'),
  ];
  const before = await schema();
  const folder = await newFolder();
  const bad = csvOf([responseRow(), responseRow({ surveyid: 'abc' })]);
  const noForms = 'surveyid,shortcode,survey_name,version,survey_created,metadata\n';
  await expect(loadFiles(empty, folder, { responses: bad })).rejects.toThrow('line 3: surveyid');
  await expect(loadFiles(empty, folder, { forms: noForms })).rejects.toThrow(
    'line 2: surveyid: "3f1c6c5e',
  );
  await expect(issueKey(empty, { email: 'ann@example.org', name: 'key' })).rejects.toThrow(
    '"npm run db:import" creates one with its data, --create-account one without.',
  );
  expect(await schema()).toEqual(before);
});

// Neon refuses a transaction that leaves a role without a password, or that gives one a hashed
// password: https://github.com/neondatabase/neon/blob/main/pgxn/neon/neon_ddl_handler.c
test('an owner who is no superuser, as on Neon, gives the role a password, in plain text, whenever a transaction ends', async () => {
  await query(
    postgres.url,
    `create role neon_owner login createrole createdb password 'neon_owner'`,
  );
  await query(postgres.url, 'create database neondb owner neon_owner');
  const url = urlOf(postgres.url, 'neon_owner', '/neondb');
  expect(await migrate(url)).toContain('0001_initial.sql'); // in one transaction
  const select = `select rolpassword like 'SCRAM-SHA-256$%' as "hasPassword" from pg_authid where rolname = $1`;
  expect(await query(postgres.url, select, [WORKER_ROLE])).toEqual([{ hasPassword: true }]);

  await withConnection(url, async (client) => {
    const sent = vi.spyOn(client, 'query');
    await setWorkerPassword(client);
    expect(sent.mock.calls).toEqual([
      [expect.stringMatching(/^alter role \w+ password '[\w-]{32}'$/)],
    ]);
  });
  const first = await newUrl(url);
  expect(await userOf(first)).toBe(WORKER_ROLE);
  expect(await userOf(await newUrl(url))).toBe(WORKER_ROLE);
  await expect(query(first, 'select')).rejects.toThrow('password authentication failed');
  expect(await databaseProblems(url)).toEqual([]);
  await query(postgres.url, 'drop database neondb with (force)'); // the role has rights in it
  await query(postgres.url, `drop role ${WORKER_ROLE}`);
});

// These run in order: the first one needs a server without the role.
describe('npm run deploy checks a database, and', async () => {
  const url = await postgres.createDatabase();
  afterAll(async () => {
    await query(postgres.url, `drop database ${new URL(url).pathname.slice(1)} with (force)`);
    await query(postgres.url, `drop role ${WORKER_ROLE}`);
  });

  test('names every migration, and the role, before it is migrated', async () => {
    expect(await databaseProblems(url)).toEqual([
      expect.stringMatching(/lacks the migrations 0001_initial\.sql, 0002.*npm run db:migrate/),
      expect.stringContaining('has no role survey_export_worker'),
    ]);
  });

  test('finds no problems once it is migrated, also if the role reads only some columns of a table', async () => {
    await migrate(url);
    await query(url, 'revoke select on users from survey_export_worker');
    await query(url, 'grant select (id, email) on users to survey_export_worker');
    expect(await databaseProblems(url)).toEqual([]);
    await query(url, 'grant select on users to survey_export_worker');
  });

  test('names each problem of the role, and the statement that solves it', async () => {
    const database = new URL(url).pathname.slice(1);
    await query(
      url,
      `alter role ${WORKER_ROLE} nologin valid until '2020-01-01' createrole replication;
       revoke connect on database ${database} from public;
       revoke usage on schema public from ${WORKER_ROLE}, public;
       alter role ${WORKER_ROLE} reset enable_seqscan;
       alter role ${WORKER_ROLE} set statement_timeout = '5s';
       alter role ${WORKER_ROLE} set idle_in_transaction_session_timeout = '65000'; -- the same as 65s
       alter database ${database} set datestyle = 'German';
       revoke select on responses from ${WORKER_ROLE};
       revoke update (last_used) on api_key_uses from ${WORKER_ROLE};
       grant delete on surveys to ${WORKER_ROLE};
       grant update (last_used) on api_keys to ${WORKER_ROLE}`,
    );
    const problems = await databaseProblems(url);
    const writable = 'can change surveys, api_keys; revoke that privilege';
    expect(problems).toEqual(
      containing([
        'cannot log in; run "',
        'has a password that has expired; run "',
        `has more rights than it needs; run "alter role ${WORKER_ROLE} nocreaterole noreplication"`,
        'cannot connect; run "',
        'cannot use the schema public; run "',
        'has no setting enable_seqscan; run "',
        `The role ${WORKER_ROLE} has statement_timeout = '5s'; run "`,
        `has DateStyle = 'German`,
        'cannot read responses; run "',
        'cannot update when a key was last used; run "',
        writable,
      ]),
    );
    for (const [, statement = ''] of problems.join('\n').matchAll(/; run "(.*)"$/gm))
      await query(url, statement);
    expect(await databaseProblems(url)).toEqual(containing([writable]));
    for (const right of ['delete on surveys', 'update (last_used) on api_keys'])
      await query(url, `revoke ${right} from ${WORKER_ROLE}`);
  });

  test.each([
    ['alter role ROLE superuser', 'can change everything'],
    ['alter role ROLE nosuperuser; grant pg_write_all_data to ROLE', 'can change users, surveys'],
  ])('names the tables that the role can change after "%s"', async (sql, problem) => {
    await query(url, sql.replaceAll('ROLE', WORKER_ROLE));
    expect(await databaseProblems(url)).toEqual(containing([problem]));
  });

  test('names what a migration was not allowed to set, because another user had created the role', async () => {
    await query(url, `create role other_tenant login password 'other_tenant'`);
    await query(url, 'create database tenants owner other_tenant');
    const tenant = urlOf(url, 'other_tenant', '/tenants');
    await query(
      url,
      `alter role ${WORKER_ROLE} reset all; revoke pg_write_all_data from ${WORKER_ROLE}`,
    );
    await migrate(tenant);
    const settings = Array.from({ length: 6 }, () => 'has no setting ');
    expect(await databaseProblems(tenant)).toEqual(containing(settings));
    await query(url, 'drop database tenants');
  });
});

describe('npm run deploy checks a gateway, and', async () => {
  const url = await postgres.createDatabase();
  const gateway = await startTestGateway(url);
  const unreachable = await startTestGateway('postgres://u:p@127.0.0.1:1/surveys');
  const proxy = await startFaultProxy(gateway.url);
  const { origin } = new URL(proxy.url);
  proxy.inject((exchange) =>
    exchange.path.startsWith('/guard')
      ? exchange.reply(302, '', { location: gateway.url })
      : exchange.reply(502, '<html>\r\n<h1>502 Bad Gateway</h1>\r\n</html>\r\n'),
  );
  afterAll(() => Promise.all([gateway, unreachable, proxy].map((one) => one.close())));

  test.each([
    ['finds no problems', {}, []],
    ['needs no DATABASE_URL', { databaseUrl: '' }, []],
    [
      'names another database',
      { databaseUrl: new URL('/other', url).href },
      ['/sql with 400 invalid connection string'],
    ],
    [
      'names a token that is refused',
      { headers: '{"Authorization":"Bearer secret"}' },
      ['/sql with 401 expected'],
    ],
    [
      'quotes no headers',
      { headers: '{"a b":"secret"}' },
      ['SQL_ENDPOINT_HEADERS must be a JSON object'],
    ],
    [
      'follows no redirect',
      { endpoint: `${origin}/guard/sql` },
      ['/healthz with 302; SQL_ENDPOINT_HEADERS are not accepted ('],
    ],
    [
      'quotes no page of a proxy',
      { endpoint: `${origin}/sql` },
      ['/healthz with 502 (see "503" in docs/runbook.md)'],
    ],
    [
      'names a database that it cannot reach',
      { endpoint: unreachable.url },
      ['with 503 Postgres cannot be reached'],
    ],
    [
      'names a URL without a gateway',
      { endpoint: `${gateway.url}/sql` },
      ['with 400 expected POST /sql or GET /healthz'],
    ],
  ])('%s', async (_, change, texts) => {
    const usual = { endpoint: gateway.url, headers: HEADERS, databaseUrl: url };
    const { endpoint, headers, databaseUrl } = { ...usual, ...change };
    const problems = await gatewayProblems(endpoint, headers, databaseUrl);
    expect(problems).toEqual(containing(texts));
    expect(problems.join()).not.toContain('secret');
  });
});

describe('npm run db:worker-url', () => {
  test('and npm start and deploy --check name what to do if the database was restored on a server without the role', async () => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, 'drop owned by survey_export_worker');
    await query(url, 'drop role survey_export_worker');
    const remedy = 'so create it as docs/runbook.md shows in "Restoring the database"';
    await expect(newUrl(url)).rejects.toThrow(
      `There is no role survey_export_worker: a dump does not include it, ${remedy}.`,
    );
    expect(await databaseProblems(url)).toEqual(containing([remedy]));
    await expect(chooseLogin(url, { isEmbedded: false })).rejects.toThrow(remedy);
  });

  test('prints the URL, and names the databases that the password also holds for', async () => {
    const url = await postgres.createDatabase();
    const other = await postgres.createDatabase();
    for (const database of [url, other]) await migrate(database);
    const env = { DATABASE_URL: url };
    const { status, stdout, stderr } = await runHere('worker-url.ts', '', env);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^postgresql:\S+\n$/)]);
    expect(await userOf(stdout.trim())).toBe('survey_export_worker');
    const name = new URL(other).pathname.slice(1);
    expect(stderr).toContain(
      `applies to every database of this server, also for ${name}, which the role can read.`,
    );
  });

  test('is refused to a user who may not change the role, and npm start names the grant', async () => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, `create role tenant login password 'tenant'`);
    const tenant = urlOf(url, 'tenant');
    await expect(newUrl(tenant)).rejects.toThrow(
      'The user of DATABASE_URL may not change the role survey_export_worker',
    );
    await expect(chooseLogin(tenant, { isEmbedded: false })).rejects.toThrow(
      'GRANT survey_export_worker TO "tenant";',
    );
  });
});

test.each([true, false])(
  'npm start runs statements as the Worker’s role, with its settings (embedded: %s)',
  async (isEmbedded) => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, `alter role ${WORKER_ROLE} set search_path = "$user", public, "a b"`);
    const { database, user: username, password } = await chooseLogin(url, { isEmbedded });
    const login = Object.assign(new URL(database), { username, password }).href;
    const select = `select session_user, current_user, current_setting('statement_timeout'), current_setting('search_path')`;
    const [row] = await query(login, `${select} as path`);
    const session_user = isEmbedded ? WORKER_ROLE : 'postgres';
    expect(row).toEqual({
      session_user,
      current_user: WORKER_ROLE,
      current_setting: '65s',
      path: '"$user", public, "a b"',
    });
  },
);

test.each([
  ['require', 'us-east-2.aws.neon.tech'],
  ['prefer', 'c-2.eu-central-1.aws.neon.tech'],
  ['verify-ca', 'eastus2.azure.neon.tech'],
])(
  'with sslmode=%s on %s, the Worker connects to the pooler, and commands to the host itself, with TLS',
  (mode, region) => {
    const [direct, pooled] = [`ep-cool-a1b2c3.${region}`, `ep-cool-a1b2c3-pooler.${region}`];
    for (const host of [direct, pooled])
      expect([directHost(host), pooledHost(host)]).toEqual([direct, pooled]);
    const path = `/db?channel_binding=require&sslmode`;
    expect(postgresUrl(`postgres://u:p%40@${pooled}${path}=${mode}`).href).toBe(
      `postgres://u:p%40@${direct}${path}=verify-full`,
    );
  },
);

test.each(['db.example.org', 'ep-x.example.org', 'ep-x-pooler.eu.aws.neon.tech.example.org'])(
  '%s is not on Neon: the Worker and commands connect to it',
  (host) => expect([directHost(host), pooledHost(host)]).toEqual([host, host]),
);
