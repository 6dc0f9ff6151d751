import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../tools/database.ts';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { revokeKey } from '../../tools/keys/revoke.ts';
import { prepareDemo } from '../../tools/start/demo.ts';
import { processTree } from '../../bench/process-stats.ts';
import { query, startDatabase } from '../support/database.ts';
import { refusal } from '../support/expected.ts';
import { freePort, keyIn, startService } from '../support/npm-start.ts';
import { newFolder } from '../support/once-per-run.ts';
import { commandLines, listeningPorts, openFiles } from '../support/processes.ts';
import { startTool } from '../support/run-tool.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
/** Neither root nor the user that the database server runs as. */
const STRANGER = { uid: 54_321, gid: 54_321 };
/** The id of the KV namespace in wrangler.toml. */
const NAMESPACE = '0'.repeat(32);

let dataDir: string;
let port: number;

async function prepareFolder(): Promise<void> {
  dataDir = join(await newFolder(), 'data ü');
  port = await freePort();
}

const environment = (env: NodeJS.ProcessEnv) => ({
  PORT: String(port),
  DATA_DIR: dataDir,
  ...env,
});

const run = (env: NodeJS.ProcessEnv = {}, ...args: string[]) =>
  startTool('start.ts', args, environment(env));
const start = (env: NodeJS.ProcessEnv = {}) => startService(environment(env));

/**
 * Command lines of the running processes of this test's service. Those that watch over others end a
 * moment after them.
 */
const processes = () =>
  commandLines().filter(
    (line) => line.includes(dataDir) || line.includes(`entry=127.0.0.1:${port}`),
  );

const get = (
  path: string,
  key?: string,
  init: Omit<RequestInit, 'headers'> & { headers?: object } = {},
) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    // workerd closes the connection after a request whose body the Worker has not read
    headers: { Connection: 'close', Authorization: `Bearer ${key}`, ...init.headers },
  });

/** Requests a list of surveys. @returns the status */
const use = async (key: string | undefined) => (await get('/api/v1/surveys', key)).status;

// A start takes seconds, so these tests share one DATA_DIR and run in order: each continues where
// the previous one ended.
describe('npm start', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let key: string | undefined;

  beforeAll(async () => {
    await prepareFolder();
    // Others may read the folder, and what `wrangler dev` has left in it.
    await mkdir(join(dataDir, 'kv/v3'), { recursive: true });
    await chmod(dataDir, 0o755);
    await writeFile(join(dataDir, 'kv/v3/traces'), '9272908327168660');
    service = await start();
  });

  test('prints addresses of the page, the API and the reference, a key, and a curl command that downloads a CSV', async () => {
    key = service.key;
    expect(service.printed).not.toContain('\nRole'); // the Worker's own
    expect(service.printed).toContain(`\nAPI   http://127.0.0.1:${port}/api/v1\n`);
    expect(key).toMatch(/^sres_\w{49}$/);

    const [, url] = /^curl .*'(http:[^']+)'/m.exec(service.printed) ?? [];
    const response = await fetch(url ?? '', { headers: { Authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    expect((await response.text()).split('\n').length).toBeGreaterThan(1000);
    expect(await use(key)).toBe(200); // now the key is in the cache
    const [, page = '', docs = ''] =
      /^\nPage {2}(http.*)\n.*\nDocs {2}(http.*)$/m.exec(service.printed) ?? [];
    for (const address of [page, docs, `${docs}/`]) {
      const { status, headers } = await fetch(address);
      expect([status, headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    }
  });

  test('refuses another npm start: one with its DATA_DIR by that rather than the port, another one by the port', async () => {
    expect(await run().outcome).toEqual(refusal(`${dataDir} is in use by Postgres`));
    const other = join(dataDir, 'other');
    expect(await run({ DATA_DIR: other }).outcome).toEqual(
      refusal(`port ${port} is in use: set PORT to another one\n`),
    );
    expect(existsSync(other)).toBe(false);
  });

  test('lets other commands use its database; one that revokes a key again removes that key alone from the cache, and its hash is in no process list or file', async () => {
    const { url } = await openDatabase({ DATA_DIR: dataDir });
    const issue = () => issueKey(url, { email: 'demo@example.org', name: 'key' });
    const [revoked, other] = [await issue(), await issue()];
    for (const { id, key: cached } of [revoked, other]) {
      expect(await use(cached)).toBe(200);
      await revokeKey(url, id);
      expect(await use(cached)).toBe(200); // from the cache
    }
    const folder = await newFolder();
    const env = { DATA_DIR: dataDir, TMPDIR: folder, HOME: folder, XDG_CONFIG_HOME: folder };
    const { child, outcome } = startTool('keys.ts', ['revoke', revoked.id], env);
    const seen = new Set<string>();
    for (; child.exitCode === null; await sleep(100))
      // wrangler runs for a second
      for (const line of commandLines()) seen.add(line);
    expect(await outcome).toMatchObject({ status: 0 });
    expect([await use(revoked.key), await use(other.key)]).toEqual([401, 200]);
    const lines = [...seen].join('\n');
    expect(lines).toContain('kv bulk delete');
    expect(lines).not.toContain(await hashApiKey(revoked.key));
    expect(await readdir(folder, { recursive: true })).not.toContainEqual(
      expect.stringMatching(/\.log$|^survey-export-/),
    );
  });

  const portsOf = (name: string) =>
    listeningPorts(
      processTree(service.pid).flatMap((found) => (found.name === name ? [found.pid] : [])),
    );

  test('shows another user of the machine no tools of wrangler on the API’s port', async () => {
    const explorer = '/cdn-cgi/local/explorer';
    const values = `${explorer}/api/storage/kv/namespaces/${NAMESPACE}/values/x`;
    const requests: [method: string, path: string, body?: string][] = [
      ['GET', explorer],
      ['PUT', values, 'x'],
      ['POST', `${explorer}/api/local/observability/query`, '{"query":"select * from spans"}'],
      ['GET', '/cdn-cgi/local/scheduled'],
      ['POST', '/cdn-cgi/local/email'],
    ];
    for (const [method, path, body = null] of requests)
      expect([path, (await get(path, '', { method, body })).status]).toEqual([path, 404]);
    // Through this, miniflare itself reaches the KV.
    const headers = { 'MF-Op': 'GET', 'MF-Op-Target': '1', 'MF-Op-Secret': '0'.repeat(32) };
    expect((await get('/cdn-cgi/local/platform-proxy', '', { headers })).status).toBe(401);
  });

  test.runIf(isLinux)(
    'has no inspector or other port that accepts anything without a password',
    async () => {
      expect(portsOf('workerd')).toEqual([port]);
      expect(portsOf('postgres')).toHaveLength(1);
      expect(commandLines().join()).not.toContain('survey_export_worker:'); // the Worker's DATABASE_URL
      const all = listeningPorts(processTree(service.pid).map(({ pid }) => pid));
      const others = all.filter((found) => ![port, ...portsOf('postgres')].includes(found));
      expect(others).toHaveLength(2); // the gateway and miniflare's own
      const headers = {
        Authorization: `Bearer ${'0'.repeat(48)}`,
        'MF-Loopback-Secret': '0'.repeat(64),
        'Neon-Connection-String': 'postgres://postgres:postgres@h.i/postgres',
      };
      const paths = ['/', '/json/list', '/core/public-url', '/cdn-cgi/local/explorer', '/sql'];
      for (const path of paths) {
        const method = path === '/sql' ? 'POST' : 'GET';
        const responses = others.map((other) =>
          fetch(`http://127.0.0.1:${other}${path}`, { method, headers }),
        );
        const statuses = (await Promise.all(responses)).map(({ status }) => String(status));
        expect([path, ...statuses.toSorted()]).toEqual([path, '401', '403']);
      }
    },
  );

  test.runIf(isLinux && isRoot)('has no file that another user can read', () => {
    const open = processTree(service.pid).flatMap(({ pid }) => openFiles(pid));
    const written = execFileSync('find', [dataDir, '-type', 'f'], { encoding: 'utf8' })
      .trim()
      .split('\n');
    const files = [...new Set([...written, ...open.filter((path) => path.startsWith(tmpdir()))])];
    expect(files).toContain(join(dataDir, 'demo.json'));
    expect(files.join()).toContain('/kv/v3/kv/');
    const script = 'for path; do true 2>/dev/null <"$path" && echo "$path"; done; true';
    expect(
      execFileSync('/bin/sh', ['-c', script, 'sh', ...files], { ...STRANGER, encoding: 'utf8' }),
    ).toBe('');
  });

  test('leaves no process when it is killed', async () => {
    expect(processes()).not.toEqual([]);
    const { stderr } = await service.stop('SIGKILL');
    expect(stderr).toBe('Loading demo data …\n');
    await expect.poll(processes).toEqual([]);
  });

  test('starts again with the same data, without demo data with --no-demo, and stops with all it started when npm is killed', async () => {
    const npm = spawn('npm', ['start', '--', '--no-demo'], {
      env: environment({ ...process.env, DATABASE_URL: '' }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // all of them write to the same pipe, which closes after the last one has ended
    const ended = once(npm, 'close');
    let printed = '';
    npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await expect.poll(() => printed, { timeout: 100_000 }).toContain('Ctrl-C');
    expect(keyIn(printed)).toBeUndefined();
    expect(await use(key)).toBe(200);
    npm.kill('SIGKILL');
    await ended;
    await expect.poll(processes).toEqual([]);
    // the database was shut down
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
  });
});

describe('npm start on a new DATA_DIR', () => {
  beforeEach(prepareFolder);

  test('stops while it waits for a database that does not respond', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port: databasePort } = silent.address() as AddressInfo;
    const { child, outcome } = run({ DATABASE_URL: `postgres://u:p@127.0.0.1:${databasePort}/d` });
    await once(silent, 'connection');
    child.kill('SIGTERM');
    // status 1 if it missed its deadline
    expect(await outcome).toEqual({ status: 0, stdout: '', stderr: '' });
    silent.close();
  });

  test('stops at once while its database is being created', async () => {
    const { child, outcome } = run();
    const isBeingCreated = () =>
      existsSync(dataDir) && readdirSync(dataDir).some((name) => name.startsWith('postgres.new'));
    await expect.poll(isBeingCreated).toBe(true);
    child.kill('SIGTERM');
    expect(await outcome).toMatchObject({ status: 0, stdout: '', stderr: '' });
    // it did not wait until the database was created
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    await expect.poll(processes).toEqual([]);
  });

  test('uses DATABASE_URL instead, without demo data, and ends with an error, and with all it started, when workerd ends at the limit of open files', async () => {
    const { url } = await startDatabase();
    const service = await start({ DATABASE_URL: url });
    expect(service.key).toBeUndefined();
    expect(service.printed).toContain(
      '\nRole  survey_export_worker, with SET ROLE in a login of postgres\n',
    );
    expect(service.printed).toContain(
      '\nnpm run keys -- issue --email you@example.org --create-account\n',
    );
    const { key } = await issueKey(url, {
      email: 'you@example.org',
      createAccount: true,
      name: 'key',
    });
    const response = await get('/api/v1/surveys', key);
    expect([response.status, await response.text()]).toEqual([200, '[]']);

    const workerd = processTree(service.pid).find(({ name }) => name === 'workerd');
    execFileSync('prlimit', ['--pid', String(workerd?.pid), '--nofile=10']);
    get('/healthz').catch(() => {}); // a new connection, which is one too many
    expect(await service.stop('SIGCONT')).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /workerd has ended: its clients' connections have reached the limit of open files, \d+ \(ulimit -n\)\nthe Worker has ended unexpectedly: see the messages above\n$/,
      ),
    });
    await expect.poll(processes).toEqual([]);
  });

  test.each([
    ['a bad port', { PORT: 'http' }, 'PORT must be an integer from 1 to 65535, not "http"\n'],
    [
      'a TMPDIR that is no folder',
      { TMPDIR: '/dev/null' },
      '/dev/null, the folder for temporary files, cannot be written',
    ],
  ])('refuses %s', async (_, env, message) => {
    expect(await run(env).outcome).toEqual(refusal(message));
  });
});

test('the demo key is the same at each start, unless it was revoked; a database with other data gets none', async () => {
  const { url } = await startDatabase();
  const folder = await newFolder();
  const first = await prepareDemo(url, folder);
  expect(await prepareDemo(url, folder)).toBe(first);
  await query(url, `update api_keys set revoked = now() where name = 'demo'`);
  const second = await prepareDemo(url, folder);
  expect(second).toMatch(/^sres_/);
  expect(second).not.toBe(first);

  await query(url, `update users set email = 'you@example.org' where email = 'demo@example.org'`);
  await rm(join(folder, 'demo.json'));
  expect(await prepareDemo(url, folder)).toBeUndefined();
});
