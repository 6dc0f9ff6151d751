import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BUDGET_KIB, buildProblems } from '../../tools/deploy/build.ts';
import { configProblems, readEnvironment } from '../../tools/deploy/config.ts';
import { namesIn } from '../../tools/deploy/deploy.ts';
import { ACCOUNT, fail, startCloudflare, succeed } from '../support/cloudflare.ts';
import { containing } from '../support/expected.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runHere } from '../support/run-here.ts';
import { startTool } from '../support/run-tool.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'fedcba9876543210fedcba9876543210';

const folder = await newFolder();

/** Writes a file of this name. @returns its path */
async function write(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/**
 * The project's wrangler.toml with ids for its KV namespaces, and placements, for a Worker that
 * takes less time to build.
 */
const finished = (await readFile(join(root, 'wrangler.toml'), 'utf8'))
  .replaceAll(/"[0-9a-f]{32}"/g, `"${NAMESPACE}"`)
  .replaceAll('# placement', 'placement')
  .replace(/^command = .*$/m, '')
  .replace('src/worker.ts', await write('worker.js', 'export default {};'))
  .replace('site/dist', await newFolder());
const config = await write('wrangler.toml', finished);
/** Without the ids and the placements. */
const unfinished = await write(
  'unfinished.toml',
  finished.replaceAll(NAMESPACE, '0'.repeat(32)).replaceAll('placement =', '# placement ='),
);
/** With a gateway, at an address where there is none. */
const withGateway = await write(
  'gateway.toml',
  finished
    .replaceAll('["DATABASE_URL"]', '["DATABASE_URL", "SQL_ENDPOINT_HEADERS"]')
    .replaceAll(
      /^placement = .*$/gm,
      'placement = { mode = "smart" }\nvars = { SQL_ENDPOINT = "https://127.0.0.1:65535/sql" }',
    ),
);

/**
 * Starts a fake of Cloudflare's API. @param secrets of the Worker; undefined if the Worker does not
 * exist yet
 */
async function startAccount(secrets: readonly string[] | undefined) {
  return startCloudflare((path) => {
    if (/\/scripts\/[\w-]+\/secrets/.test(path))
      return secrets
        ? succeed(secrets.map((name) => ({ name, type: 'secret_text' })))
        : fail(404, 10_007, 'This Worker does not exist on your account.');
    if (path.includes('/scripts/') || path.includes('/services/'))
      // wrangler retries after a 500
      return fail(400, 1, 'the fake deploys nothing');
    return succeed(/\/accounts|\/memberships/.test(path) ? [] : { email: 'you@example.org' });
  });
}

/** The requests of a deployment, whose first one is for the service's metadata. */
const attemptsIn = (calls: readonly string[]) =>
  calls.filter((call) => /^(?:PUT|POST|PATCH)|\/services\//.test(call));

describe('npm run deploy', () => {
  test('lists everything that is missing, and uploads nothing', async () => {
    using cloudflare = await startAccount(undefined); // as before the first deployment
    const env = { ...cloudflare.env, DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/db' };
    const { status, stdout, stderr } = await runHere('deploy.ts', `--config ${unfinished}`, env);
    expect(status).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'Nothing was deployed. 5 problems:',
      expect.stringMatching(/^- wrangler\.toml: the id of API_KEYS .*kv namespace create/),
      expect.stringMatching(
        /^- wrangler\.toml: DATABASE_URL is not on Neon; add vars = .*SQL_ENDPOINT.* directly below/,
      ),
      expect.stringMatching(/^- wrangler\.toml: the environment has no placement, .*region = "…"/),
      '- The secret DATABASE_URL is not set; run "npx wrangler secret put DATABASE_URL --env production"',
      expect.stringMatching(
        /^- Cannot connect to Postgres 127\.0\.0\.1:1\/db \(DATABASE_URL\): .*ECONNREFUSED/,
      ),
      '',
    ]);
    expect(stderr).not.toContain('secret@');
    expect(stdout).toMatch(
      /^Plan not checked: .*On the free plan, remove it from wrangler\.toml.*\(code 100328\)\.\n$/,
    );
    expect(cloudflare.calls).toContainEqual(
      expect.stringContaining(
        `/accounts/${ACCOUNT}/workers/scripts/survey-response-export-production/secrets`,
      ),
    );
    expect(attemptsIn(cloudflare.calls)).toEqual([]);
  });

  test('explains what to do without a login, and checks the gateway with SQL_ENDPOINT_HEADERS', async () => {
    const nobody = {
      CLOUDFLARE_API_TOKEN: '',
      CLOUDFLARE_API_KEY: '',
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      SQL_ENDPOINT_HEADERS: '{}',
    };
    const args = `--check --config ${withGateway}`;
    const { status, stderr } = await runHere('deploy.ts', args, nobody);
    expect(status).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'Nothing was deployed. 2 problems:',
      '- wrangler is not logged in: run "npx wrangler login" or set CLOUDFLARE_API_TOKEN',
      expect.stringMatching(/^- The gateway https:\S+:65535\/sql cannot be used: .*ECONNREFUSED/),
      '',
    ]);
  });

  test('only checks with --check', async () => {
    using cloudflare = await startAccount(['DATABASE_URL', 'SQL_ENDPOINT_HEADERS']);
    const args = `--env staging --config ${withGateway} --check`;
    const { status, stdout, stderr } = await runHere('deploy.ts', args, cloudflare.env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const part of ['Database', 'Gateway']) expect(stdout).toContain(`${part} not checked: `);
    expect(attemptsIn(cloudflare.calls)).toEqual([]);
    expect(cloudflare.calls.join()).not.toContain('/scripts/survey-response-export-production');
  });

  test('deploys if nothing is missing, and fails if the deployment fails', async () => {
    using cloudflare = await startAccount(['DATABASE_URL']);
    const { outcome } = startTool(
      'deploy.ts',
      ['--env', 'staging', '--config', config],
      cloudflare.env,
    );
    const stderr = expect.stringContaining('the fake deploys nothing') as string;
    expect(await outcome).toMatchObject({ status: 1, stderr });
    expect(attemptsIn(cloudflare.calls)).not.toEqual([]);
  });
});

describe('an environment of wrangler.toml', async () => {
  test.each([
    ['does not exist', config, /^--env: .* has no environment "none", only staging, production$/],
    ['has no file', join(folder, 'x.toml'), /^--config: Could not read file: .*x\.toml$/],
    ['is in a folder', folder, /^--config: .* has no environments, as wrangler\.toml has$/],
    [
      'is not in TOML',
      await write('bad.toml', 'a = [\nx'),
      /^--config: Invalid TOML document: \S.*$/,
    ],
  ])('that %s is rejected in one line', (_, file, message) => {
    const error = { name: 'UserError', message: expect.stringMatching(message) };
    expect(() => readEnvironment({ env: 'none', config: file })).toThrow(
      expect.objectContaining(error),
    );
  });

  test.each(['staging', 'production'])(
    '%s is complete except for the id of its KV namespace and its placement',
    (env) => {
      expect(configProblems(readEnvironment({ env, config: unfinished }))).toEqual(
        containing(['the id of API_KEYS', 'placement']),
      );
      const environment = readEnvironment({ env, config });
      expect(configProblems(environment)).toEqual([]);
      expect(environment.limits).toEqual({ cpu_ms: 300_000 });
    },
  );

  const region = 'aws:eu-central-1';
  test.each([
    ['ep-x-pooler.c-2.eu-central-1.aws.neon.tech', { region }, []],
    ['EP-X.EU-CENTRAL-1.AWS.NEON.TECH', { mode: 'targeted', region }, []],
    ['ep-x.eastus2.azure.neon.tech', { region }, ['in azure:eastus2;']],
    [
      'ep-x.eu-central-1.aws.neon.tech',
      undefined,
      [`in ${region}; add placement = { region = "${region}" }`],
    ],
    [
      'db.eu-central-1.aws.neon.tech.example.org',
      { region: 'gcp:us-east4' },
      ['is not on Neon; add vars'],
    ],
  ])(
    'whose database is on %s, with the placement %o, has the problems %o',
    (host, placement, problems) => {
      const environment = { ...readEnvironment({ env: 'production', config }), placement };
      expect(configProblems(environment, `postgres://owner:p@${host}/db`)).toEqual(
        containing(problems),
      );
    },
  );

  const INVALID = 'SQL_ENDPOINT must be an https: URL that ends in /sql, without user and password';
  test.each([
    [
      'https://example.org:8443/gateway/sql',
      { placement: undefined },
      ['placement = { host = "example.org:8443" }'],
    ],
    [
      'https://example.org/sql',
      { secrets: { required: ['DATABASE_URL'] } },
      ['does not list SQL_ENDPOINT_HEADERS'],
    ],
    ['http://example.org/sql', {}, [INVALID]],
    ['https://example.org/sql?token=secret', {}, [INVALID]],
  ])('whose gateway is %s, with %o, has the problems %o', (SQL_ENDPOINT, change, problems) => {
    const found = readEnvironment({ env: 'production', config: withGateway });
    const environment = { ...found, vars: { SQL_ENDPOINT }, ...change };
    expect(configProblems(environment, 'postgres://owner:p@db.example.org/db')).toEqual(
      containing(problems),
    );
    const onNeon = configProblems(environment, 'postgres://owner:p@ep-x.aws.neon.tech/db');
    expect(onNeon.join()).toContain('remove SQL_ENDPOINT');
  });

  test('shares no rate limit with another environment', () => {
    const ids = ['staging', 'production'].flatMap(
      (env) =>
        readEnvironment({ env, config }).ratelimits?.map(({ namespace_id }) => namespace_id) ?? [],
    );
    expect(new Set(ids).size).toBe(4);
  });

  test('without bindings lacks every one', () => {
    const names = ['API_KEYS', 'ACCOUNT_LIMIT', 'FAILURE_LIMIT', 'DATABASE_URL', 'placement'];
    expect(configProblems({})).toEqual(containing(names));
  });
});

test('accepts a bundle up to the size limit, of known packages', () => {
  expect(buildProblems({ kib: BUDGET_KIB, packages: ['hono'] })).toEqual([]);
  const problems = buildProblems({ kib: BUDGET_KIB + 0.1, packages: ['hono', 'other'] });
  expect(problems).toEqual(containing(['120.1 KiB', 'contains other;']));
});

test('finds the names of secrets after a warning', () => {
  expect(
    namesIn('a [warning]\n[\n  {\n    "name": "A",\n    "type": "secret_text"\n  }\n]\n'),
  ).toEqual(['A']);
  expect(namesIn('[]\n')).toEqual([]);
});
