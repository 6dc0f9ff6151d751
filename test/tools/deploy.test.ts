import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { BUDGET_KIB, sizeProblems } from '../../tools/deploy/build.ts';
import { cloudflareProblems, namesIn } from '../../tools/deploy/cloudflare.ts';
import { configProblems, readEnvironment } from '../../tools/deploy/config.ts';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { ACCOUNT, fail, startCloudflare, succeed } from '../support/cloudflare.ts';
import { type TestPostgres, startPostgres } from '../support/postgres.ts';
import { startTool } from '../support/run-tool.ts';
import { query } from '../support/database.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'fedcba9876543210fedcba9876543210';

let folder: string;
/** The project's wrangler.toml with ids for its KV namespaces, and placements, for a Worker that takes less time to build. */
let config: string;
/** The project's wrangler.toml with its placeholders. */
let unfinished: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-deploy-'));
  config = join(folder, 'wrangler.toml');
  unfinished = join(folder, 'unfinished.toml');
  const toml = (await readFile(join(root, 'wrangler.toml'), 'utf8')).replaceAll(/"(?=(?:src|site)\b)/g, `"${root}`);
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'worker.js'), 'export default {};');
  const finished = toml
    .replaceAll(/"[0-9a-f]{32}"/g, `"${NAMESPACE}"`)
    .replaceAll('# placement', 'placement')
    .replace(/^command = .*$/m, '')
    .replace(`${root}src/worker.ts`, join(folder, 'worker.js'))
    .replace(`${root}site/dist`, join(folder, 'assets'));
  await writeFile(config, finished);
  await writeFile(unfinished, toml.replaceAll(/"[0-9a-f]{32}"/g, `"${'0'.repeat(32)}"`));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts a fake of Cloudflare's API. @param secrets of the Worker; undefined if the Worker does not exist yet */
async function startAccount(secrets: readonly string[] | undefined) {
  return startCloudflare((path) => {
    if (/\/scripts\/[\w-]+\/secrets/.test(path)) {
      if (secrets) return { status: 200, body: succeed(secrets.map((name) => ({ name, type: 'secret_text' }))) };
      return { status: 404, body: fail(10_007, 'This Worker does not exist on your account.') };
    }
    if (path.includes('/scripts/') || path.includes('/services/'))
      return { status: 400, body: fail(1, 'the fake deploys nothing') }; // wrangler retries after a 500
    return { status: 200, body: succeed(/\/accounts|\/memberships/.test(path) ? [] : { email: 'you@example.org' }) };
  });
}

const uploadsIn = (calls: readonly string[]) => calls.filter((call) => /^(?:PUT|POST|PATCH)/.test(call));

const MISSING_SECRET =
  'The secret DATABASE_URL is not set; run "npx wrangler secret put DATABASE_URL --env production"';

const LOGGED_OUT = {
  CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:9/client/v4',
  CLOUDFLARE_API_TOKEN: '',
  CLOUDFLARE_API_KEY: '',
  HOME: '/nowhere',
  XDG_CONFIG_HOME: '/nowhere',
};
const deploy = (env: NodeJS.ProcessEnv, ...args: string[]) => startTool('deploy.ts', args, env).outcome;

describe('npm run deploy', () => {
  test('lists everything that is missing, and uploads nothing', async () => {
    using cloudflare = await startAccount(undefined); // as before the first deployment
    const { status, stdout, stderr } = await deploy(
      { ...cloudflare.env, DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/db' },
      ...['--env', 'production', '--config', unfinished],
    );
    expect(status).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'Nothing was deployed. 4 problems:',
      expect.stringMatching(/^- wrangler\.toml: the id of API_KEYS .*kv namespace create/),
      expect.stringMatching(/^- wrangler\.toml: the environment has no placement, .*region = "…"/),
      `- ${MISSING_SECRET}`,
      expect.stringMatching(/^- Cannot connect to Postgres 127\.0\.0\.1:1\/db \(DATABASE_URL\): .*ECONNREFUSED/),
      '',
    ]);
    expect(stderr).not.toContain('secret@');
    expect(stdout).toMatch(
      /^Plan not checked: .*On the free plan, remove it from wrangler\.toml.*\(code 100328\)\.\n$/,
    );
    expect(cloudflare.calls).toContainEqual(
      expect.stringContaining(`/accounts/${ACCOUNT}/workers/scripts/survey-response-export-production/secrets`),
    );
    expect(uploadsIn(cloudflare.calls)).toEqual([]);
  });

  test('explains what to do without a login', async () => {
    for (const [name, value] of Object.entries(LOGGED_OUT)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const problem = 'wrangler is not logged in: run "npx wrangler login" or set CLOUDFLARE_API_TOKEN';
    expect(await cloudflareProblems({ env: 'production', config }, ['DATABASE_URL'])).toEqual([problem]);
  });

  test('only checks with --check', async () => {
    using cloudflare = await startAccount(['DATABASE_URL']);
    const { status, stdout, stderr } = await deploy(cloudflare.env, '--env', 'staging', '--check', '--config', config);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('Database not checked');
    expect(uploadsIn(cloudflare.calls)).toEqual([]);
    expect(cloudflare.calls.join()).not.toContain('/scripts/survey-response-export-production');
  });

  test('deploys if nothing is missing, and fails if the deployment fails', async () => {
    using cloudflare = await startAccount(['DATABASE_URL']);
    const { status, stderr } = await deploy(cloudflare.env, '--env', 'staging', '--config', config);
    expect(stderr).toContain('the fake deploys nothing');
    expect(status).toBe(1);
  });
});

test('refuses the URL of the Worker', async () => {
  await expect(databaseProblems('postgres://survey_export_worker:p@127.0.0.1:1/db')).rejects.toThrow(
    "survey_export_worker is the Worker's role; use the owner's URL",
  );
});

describe('an environment of wrangler.toml', () => {
  test('that does not exist is rejected', () => {
    const message = `--env: ${config} has no environment "nowhere", only staging, production`;
    expect(() => readEnvironment({ env: 'nowhere', config })).toThrow(message);
  });

  test.each([
    ['is missing', () => join(folder, 'none.toml'), /^--config: Could not read file: .*none\.toml$/],
    ['is a folder', () => folder, /^--config: .* has no environments, as wrangler\.toml has$/],
    ['is not TOML', () => join(folder, 'bad.toml'), /^--config: Invalid TOML document: \S.*$/],
  ])('whose file %s is rejected in one line', async (_, file, message) => {
    await writeFile(join(folder, 'bad.toml'), 'a = [\nx');
    const error = expect.objectContaining({ name: 'UserError', message: expect.stringMatching(message) });
    expect(() => readEnvironment({ env: 'production', config: file() })).toThrow(error);
  });

  test.each(['staging', 'production'])(
    '%s is complete except for the id of its KV namespace and its placement',
    (env) => {
      expect(configProblems(readEnvironment({ env, config: unfinished }))).toEqual([
        expect.stringContaining('the id of API_KEYS'),
        expect.stringContaining('placement'),
      ]);
      const environment = readEnvironment({ env, config });
      expect(configProblems(environment)).toEqual([]);
      expect(environment.limits).toEqual({ cpu_ms: 300_000 });
    },
  );

  const region = 'aws:eu-central-1';
  test.each([
    ['ep-x.eu-central-1.aws.neon.tech', { region }, []],
    ['ep-x-pooler.c-2.eu-central-1.aws.neon.tech', { region }, []],
    ['EP-X.EU-CENTRAL-1.AWS.NEON.TECH', { mode: 'targeted', region }, []],
    ['ep-x.eastus2.azure.neon.tech', { region }, ['in azure:eastus2;']],
    ['ep-x.eu-central-1.aws.neon.tech', { mode: 'smart' }, []],
    ['ep-x.eu-central-1.aws.neon.tech', undefined, [`in ${region}; add placement = { region = "${region}" }`]],
    ['ep-x.eu-central-1.aws.neon.tech', { region: 'aws:eu-west-2' }, [`in ${region};`]],
    ['ep-x.eu-central-1.aws.neon.tech', { mode: 'off' }, [`in ${region};`]],
    ['ep-x.c-2.us-east-2.aws.neon.tech', { region }, ['in aws:us-east-2;']],
    ['ep-x.neon.tech', undefined, ['has no placement']],
    ['db.example.org', undefined, ['has no placement']],
    ['db.eu-central-1.aws.neon.tech.example.org', { region: 'gcp:us-east4' }, []],
    ['db.example.org', { mode: 'targeted', hostname: 'db.example.org' }, []],
  ])('whose database is on %s, with the placement %o, has the problems %o', (host, placement, problems) => {
    const environment = { ...readEnvironment({ env: 'production', config }), placement };
    expect(configProblems(environment, `postgres://owner:p@${host}/db`)).toEqual(
      problems.map((problem) => expect.stringContaining(problem)),
    );
  });

  test('shares no rate limit with another environment', () => {
    const ids = ['staging', 'production'].flatMap(
      (env) => readEnvironment({ env, config }).ratelimits?.map(({ namespace_id }) => namespace_id) ?? [],
    );
    expect(new Set(ids).size).toBe(4);
  });

  test('without bindings lacks every one', () => {
    expect(configProblems({})).toEqual([
      expect.stringContaining('API_KEYS'),
      expect.stringContaining('ACCOUNT_LIMIT'),
      expect.stringContaining('FAILURE_LIMIT'),
      expect.stringContaining('DATABASE_URL'),
      expect.stringContaining('placement'),
    ]);
  });
});

test('accepts a bundle up to the size limit', () => {
  expect(sizeProblems(BUDGET_KIB * 1024)).toEqual([]);
  expect(sizeProblems(BUDGET_KIB * 1024 + 103)).toEqual([expect.stringContaining('120.1 KiB')]);
});

test('finds the names of secrets after a warning', () => {
  expect(namesIn('a [warning]\n[\n  {\n    "name": "A",\n    "type": "secret_text"\n  }\n]\n')).toEqual(['A']);
  expect(namesIn('[]\n')).toEqual([]);
});

describe('the database', () => {
  let postgres: TestPostgres;
  let url: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
  });
  afterAll(() => postgres?.stop());

  test('lacks every migration and the role before it is migrated', async () => {
    const problems = await databaseProblems(await postgres.createDatabase());
    expect(problems).toEqual([
      expect.stringMatching(/lacks the migrations 0001_initial\.sql, 0002.*npm run db:migrate/),
      expect.stringContaining('has no role survey_export_worker'),
    ]);
  });

  test('has no problems once migrated, and lacks only migrations that were not applied', async () => {
    await migrate(url);
    expect(await databaseProblems(url)).toEqual([]);
    await query(url, `delete from schema_migrations where name like '0002%'`);
    expect(await databaseProblems(url)).toEqual([expect.stringMatching(/lacks the migrations 0002_[\w.]+;/)]);
    await query(url, `insert into schema_migrations (name) values ('0002_responses_by_participant.sql')`);
  });

  test('may let the role read only some columns of a table', async () => {
    await migrate(url);
    await query(url, 'revoke select on users from survey_export_worker');
    await query(url, 'grant select (id, email) on users to survey_export_worker');
    expect(await databaseProblems(url)).toEqual([]);
    await query(url, 'grant select on users to survey_export_worker');
  });

  test('names what a migration was not allowed to set, because another user had created the role', async () => {
    await query(url, `create role tenant login password 'p'`);
    await query(url, 'create database tenants owner tenant');
    const tenant = Object.assign(new URL(url), { username: 'tenant', password: 'p', pathname: '/tenants' }).href;
    await query(url, 'alter role survey_export_worker reset all');
    await migrate(tenant);
    expect(await databaseProblems(tenant)).toEqual(
      [
        'enable_bitmapscan',
        'enable_seqscan',
        'statement_timeout',
        'idle_in_transaction_session_timeout',
        'max_parallel_workers_per_gather',
        'client_connection_check_interval',
      ].map((name) => expect.stringContaining(`has no setting ${name};`)),
    );
    await query(url, 'alter role survey_export_worker set enable_bitmapscan = off');
    await query(url, 'drop database tenants');
    for (const name of ['0003', '0005', '0006', '0007'])
      await query(url, `delete from schema_migrations where name like '${name}%'`);
    await migrate(url);
    expect(await databaseProblems(url)).toEqual([]);
  });

  test.each([
    ['alter role survey_export_worker nologin', 'alter role survey_export_worker login', 'cannot log in'],
    [
      `alter role survey_export_worker valid until '2020-01-01'`,
      `alter role survey_export_worker valid until 'infinity'`,
      'has expired',
    ],
    [
      'revoke select on responses from survey_export_worker',
      'grant select on responses to survey_export_worker',
      'cannot read responses;',
    ],
    [
      'revoke update (last_used) on api_key_uses from survey_export_worker',
      'grant update (last_used) on api_key_uses to survey_export_worker',
      'cannot update when a key was last used',
    ],
    [
      'grant update (last_used) on api_keys to survey_export_worker',
      'revoke update (last_used) on api_keys from survey_export_worker',
      'can change api_keys;',
    ],
    [
      'grant delete on surveys to survey_export_worker',
      'revoke delete on surveys from survey_export_worker',
      'can change surveys;',
    ],
    [
      'revoke usage on schema public from survey_export_worker, public',
      'grant usage on schema public to survey_export_worker, public',
      'cannot use the schema public; run "grant usage on schema public to survey_export_worker"',
    ],
    [
      `do $$ begin execute format('revoke connect on database %I from public', current_database()); end $$`,
      `do $$ begin execute format('grant connect on database %I to public', current_database()); end $$`,
      'cannot connect; run "grant connect on database test_',
    ],
    [
      'alter role survey_export_worker createrole replication',
      'alter role survey_export_worker nocreaterole noreplication',
      'has more rights than it needs; run "alter role survey_export_worker nocreaterole noreplication"',
    ],
    [
      'alter role survey_export_worker reset enable_seqscan',
      'alter role survey_export_worker set enable_seqscan = off',
      `has no setting enable_seqscan; run "alter role survey_export_worker set enable_seqscan = 'off'"`,
    ],
    [
      `alter role survey_export_worker set statement_timeout = '5s'`,
      `alter role survey_export_worker set statement_timeout = '65000'`, // the same as 65s
      `has statement_timeout = '5s'; run "alter role survey_export_worker set statement_timeout = '65s'"`,
    ],
    [
      'alter role survey_export_worker superuser',
      'alter role survey_export_worker nosuperuser',
      'can change everything',
    ],
    [
      'grant pg_write_all_data to survey_export_worker',
      'revoke pg_write_all_data from survey_export_worker',
      'can change users, surveys',
    ],
  ])('has a problem after "%s"', async (sql, undo, problem) => {
    await migrate(url);
    await query(url, sql);
    expect(await databaseProblems(url)).toEqual([expect.stringContaining(problem)]);
    await query(url, undo);
    expect(await databaseProblems(url)).toEqual([]);
  });
});
