import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { query, startDatabase } from '../support/database.ts';
import { revokeKey } from '../../tools/keys/revoke.ts';
import { prepareDemo } from '../../tools/start/demo.ts';
import { processTree } from '../../bench/process-stats.ts';
import { freePort, keyIn, startService } from '../support/npm-start.ts';
import { commandLines } from '../support/processes.ts';
import { startTool } from '../support/run-tool.ts';

let dataDir: string;
let port: number;

async function prepareFolder(): Promise<void> {
  dataDir = await mkdtemp(join(tmpdir(), 'test start ü-'));
  port = await freePort();
}

const removeFolder = () => rm(dataDir, { recursive: true, force: true });

const start = (env: NodeJS.ProcessEnv = {}) => startService({ PORT: String(port), DATA_DIR: dataDir, ...env });

/** Command lines of the running processes of this test's service. Those that watch over others end a moment after them. */
const processes = () =>
  commandLines().filter((line) => line.includes(dataDir) || line.includes(`entry=127.0.0.1:${port}`));

/** Requests a list of surveys. @returns the status */
async function use(key: string | undefined): Promise<number> {
  const url = `http://127.0.0.1:${port}/api/v1/surveys`;
  return (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).status;
}

// A start takes seconds, so these tests share one DATA_DIR and run in order: each continues where the previous one ended.
describe('npm start', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let key: string | undefined;

  beforeAll(async () => {
    await prepareFolder();
    service = await start();
  });
  afterAll(removeFolder);

  test('prints its URL, a key and a curl command that downloads a CSV', async () => {
    key = service.key;
    expect(service.printed).toContain(`\nAPI   http://127.0.0.1:${port}/api/v1\n`);
    expect(key).toMatch(/^sres_\w{49}$/);

    const [, url] = /^curl .*'(http:[^']+)'/m.exec(service.printed) ?? [];
    const response = await fetch(url ?? '', { headers: { Authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    expect((await response.text()).split('\n').length).toBeGreaterThan(1000);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(execFileSync('find', [dataDir, '-perm', '/077'], { encoding: 'utf8' })).toBe('');
  });

  test('refuses its DATA_DIR to another npm start or npm run dev, whatever the port', async () => {
    const postmaster = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
    const samePort = startTool('start.ts', [], { PORT: String(port), DATA_DIR: dataDir });
    const dev = startTool('start.ts', ['--watch'], { PORT: String(await freePort()), DATA_DIR: dataDir });
    for (const { outcome } of [samePort, dev]) {
      const { status, stderr } = await outcome;
      expect(status).toBe(1);
      expect(stderr).toBe(
        `${dataDir} is in use by Postgres (process ${postmaster}): stop its npm start, or set DATA_DIR to another folder\n`,
      );
    }
  });

  test('names the port if another npm start uses that alone', async () => {
    const env = { PORT: String(port), DATA_DIR: join(dataDir, 'other') };
    const { status, stderr } = await startTool('start.ts', [], env).outcome;
    expect({ status, stderr }).toEqual({ status: 1, stderr: `port ${port} is in use: set PORT to another one\n` });
    expect(existsSync(env.DATA_DIR)).toBe(false);
  });

  test('lets other commands use its database, and refuses a key as soon as it is rotated with no grace period', async () => {
    const keys = async (...args: string[]) => {
      const { status, stdout, stderr } = await startTool('keys.ts', [...args, '--json'], { DATA_DIR: dataDir }).outcome;
      if (status !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as { key: string; id: string };
    };
    const old = await keys('issue', '--email', 'demo@example.org');
    expect(await use(old.key)).toBe(200);
    expect(await use(old.key)).toBe(200); // from the cache
    const rotated = await keys('rotate', old.id, '--grace', '0');
    expect(await use(old.key)).toBe(401);
    expect(await use(rotated.key)).toBe(200);
  });

  test('prints the address of the page first, and serves it and the reference at the addresses that it prints', async () => {
    const [, page = '', docs = ''] = /^\nPage {2}(http.*)\n.*\nDocs {2}(http.*)$/m.exec(service.printed) ?? [];
    for (const url of [page, docs, `${docs}/`]) {
      const response = await fetch(url);
      expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    }
  });

  test('leaves no process when it is killed', async () => {
    expect(processes()).not.toEqual([]);
    const { stderr } = await service.stop('SIGKILL');
    expect(stderr).toBe('Loading demo data …\n');
    await expect.poll(processes).toEqual([]);
  });

  test('starts again with the same data and key, and stops with all it started when npm is killed', async () => {
    const npm = spawn('npm', ['start'], {
      env: { ...process.env, DATABASE_URL: '', PORT: String(port), DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(npm, 'close'); // all of them write to the same pipe, which closes after the last one has ended
    let printed = '';
    npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await expect.poll(() => printed, { timeout: 100_000 }).toContain('Ctrl-C');
    expect(keyIn(printed)).toBe(key);
    expect(await use(key)).toBe(200);
    npm.kill('SIGKILL');
    await ended;
    await expect.poll(processes).toEqual([]);
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false); // the database was shut down
  });
});

describe('npm start on a new DATA_DIR', () => {
  beforeEach(prepareFolder);
  afterEach(removeFolder);

  test('stops while it waits for a database that does not respond', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port: databasePort } = silent.address() as AddressInfo;
    const { child, outcome } = startTool('start.ts', [], {
      PORT: String(port),
      DATA_DIR: dataDir,
      DATABASE_URL: `postgres://u:p@127.0.0.1:${databasePort}/d`,
    });
    await once(silent, 'connection');
    child.kill('SIGTERM');
    expect(await outcome).toEqual({ status: 0, stdout: '', stderr: '' }); // status 1 if it missed its deadline
    silent.close();
  });

  test('stops at once while its database is being created', async () => {
    const { child, outcome } = startTool('start.ts', [], { PORT: String(port), DATA_DIR: dataDir });
    const isBeingCreated = () => readdirSync(dataDir).some((name) => name.startsWith('postgres.new'));
    await expect.poll(isBeingCreated).toBe(true);
    child.kill('SIGTERM');
    expect(await outcome).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false); // it did not wait until the database was created
    await expect.poll(processes).toEqual([]);
  });

  test('uses DATABASE_URL instead, without demo data, and ends with an error, and with all it started, when workerd ends', async () => {
    const database = await startDatabase();
    onTestFinished(() => database.stop());
    const { url } = database;
    const service = await start({ DATABASE_URL: url });
    expect(service.key).toBeUndefined();
    expect(service.printed).toContain('\nRole  survey_export_worker, with SET ROLE in a login of postgres\n');
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);

    const [, args = ''] = /^npm run --silent keys -- (.*)$/m.exec(service.printed) ?? [];
    const { stdout } = await startTool('keys.ts', args.split(' '), { DATABASE_URL: url }).outcome;
    const [, surveys = ''] = /^curl .*'(http:[^']+)'$/m.exec(service.printed) ?? [];
    const response = await fetch(surveys, { headers: { Authorization: `Bearer ${stdout.trim()}` } });
    expect([response.status, await response.text()]).toEqual([200, '[]']);
    const workerd = processTree(service.pid).find(({ name }) => name === 'workerd');
    expect(await service.stop('SIGKILL', workerd?.pid)).toEqual({
      status: 1,
      stderr: 'workerd has ended: SIGKILL\nthe Worker has ended unexpectedly: see the messages above\n',
    });
    await expect.poll(processes).toEqual([]);
  });

  test.each([
    ['a bad port', { PORT: 'http' }, 'PORT must be an integer from 1 to 65535, not "http"'],
    [
      'a TMPDIR that is no folder',
      { TMPDIR: '/dev/null' },
      '/dev/null, the folder for temporary files, cannot be written',
    ],
    ['a bad database URL', { DATABASE_URL: 'mysql://u:secret@h/d' }, 'DATABASE_URL is not a Postgres URL'],
  ])('refuses %s', async (_, env, message) => {
    const { status, stdout, stderr } = await startTool('start.ts', [], {
      PORT: String(port),
      DATA_DIR: dataDir,
      ...env,
    }).outcome;
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('secret');
  });

  test.each([
    [['--port', '9000'], "error: unknown option '--port'\n"],
    [['9000'], 'error: too many arguments. Expected 0 arguments but got 1: 9000.\n'],
  ])('refuses the arguments %j, and names its help', async (args, message) => {
    const { outcome } = startTool('start.ts', args, { PORT: String(port), DATA_DIR: dataDir });
    expect(await outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: `${message}See "npm start -- --help". Options follow the "--".\n`,
    });
  });

  test('has a help that names the environment variables', async () => {
    const { stdout } = await startTool('start.ts', ['--help'], {}).outcome;
    for (const name of ['PORT', 'DATA_DIR', 'DATABASE_URL']) expect(stdout).toContain(name);
  });
});

test('the demo key is the same at each start, unless it was revoked; a database with other data gets none', async () => {
  const database = await startDatabase();
  onTestFinished(() => database.stop());
  const { url } = database;
  await prepareFolder();
  onTestFinished(removeFolder);
  const first = await prepareDemo(url, dataDir);
  expect(await prepareDemo(url, dataDir)).toEqual(first);
  const [row] = await query<{ id: string }>(url, `select id from api_keys where name = 'demo'`);
  await revokeKey(url, row?.id ?? '');
  const second = await prepareDemo(url, dataDir);
  expect([second?.survey, second?.key]).toEqual([first?.survey, expect.not.stringMatching(`^${first?.key}$`)]);

  await query(url, `update users set email = 'you@example.org' where email = 'demo@example.org'`);
  await rm(join(dataDir, 'demo.json'));
  expect(await prepareDemo(url, dataDir)).toBeUndefined();
});
