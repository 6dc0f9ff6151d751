import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../tools/database.ts';
import { canReach, serverUser } from '../../tools/postgres/os-user.ts';
import type { Role } from '../../tools/postgres/embedded.ts';
import { findPrograms, installed } from '../../tools/postgres/programs.ts';
import { startServer } from '../../tools/postgres/server.ts';
import { putEmptyDatabase } from '../support/data-dir.ts';
import { query } from '../support/database.ts';
import { startTool } from '../support/run-tool.ts';

const isRoot = process.getuid?.() === 0;
const isReachable = await canReach(dirname(fileURLToPath(import.meta.url)), await serverUser());

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test postgres ü-'));
  chmodSync(folder, 0o755);
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function createDatabase(): Promise<void> {
  mkdirSync(dataDir);
  await putEmptyDatabase(dataDir);
}

const open = (role?: Role) => openDatabase({ DATA_DIR: dataDir }, undefined, role);
const postmasterPid = () => Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
const isRunning = () => existsSync(join(dataDir, 'postgres/postmaster.pid'));

/** Opens the database in another process, which closes it when `close` is called. */
async function openElsewhere(role: Role = 'command') {
  const module = new URL('../../tools/database.ts', import.meta.url).href;
  const script = `
    import { openDatabase } from ${JSON.stringify(module)};
    const database = await openDatabase({ DATA_DIR: process.argv[1] }, undefined, process.argv[2]);
    process.stdout.write(database.url);
    process.stdin.once('data', async () => { process.stdin.destroy(); await database[Symbol.asyncDispose](); });`;
  const args = ['--input-type=module', '--eval', script, dataDir, role];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: String(url),
    pid: child.pid,
    async close() {
      child.stdin.write('close');
      await ended(child);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

describe('the embedded database', () => {
  test('is durable, sorts UTF-8 text by code point, requires its password, and is readable only by its owner', async () => {
    mkdirSync(dataDir, { mode: 0o755 });
    await using database = await open('service');
    const [settings] = await query(
      database.url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
         current_setting('full_page_writes') as pages, current_setting('server_encoding') as encoding,
         (select string_agg(x, '' order by x) from unnest(array['ä', 'b', 'B', '🐘']) x) as sorted`,
    );
    expect(settings).toEqual({ fsync: 'on', commit: 'on', pages: 'on', encoding: 'UTF8', sorted: 'Bbä🐘' });
    const guess = Object.assign(new URL(database.url), { password: 'guess' });
    await expect(query(guess.href, 'select')).rejects.toMatchObject({ code: '28P01' });
    expect(execFileSync('find', [dataDir, '-perm', '/077'], { encoding: 'utf8' })).toBe('');
  });

  test('is created once and opened by one command after the other when two start at the same time', async () => {
    const both = [openElsewhere(), openElsewhere()] as const;
    const first = await Promise.race(both);
    await first.close();
    const [one, other] = await Promise.all(both);
    const second = one === first ? other : one;
    expect(second.url).not.toBe(first.url);
    await second.close();
    expect(isRunning()).toBe(false);
  });

  test('is not opened by a command until the one that started its server has finished, which the command names', async () => {
    await createDatabase();
    const first = await openElsewhere();
    const { child, outcome } = startTool('migrate.ts', [], { DATA_DIR: dataDir });
    const [notice] = (await once(child.stderr ?? child, 'data')) as [Buffer];
    expect(notice.toString()).toContain(`Waiting for process ${first.pid} (`);
    await first.close();
    expect(await outcome).toMatchObject({ status: 0 });
  });

  test('is not opened by npm start until the command that started its server has finished', async () => {
    await createDatabase();
    const command = await openElsewhere();
    const opened = open('service');
    await query(command.url, 'select');
    await command.close();
    await using database = await opened;
    expect(database.url).not.toBe(command.url);
  });

  test('of npm start is opened by commands at the same time', async () => {
    await createDatabase();
    await using service = await open('service');
    await using first = await open();
    await using second = await open();
    expect([first.url, second.url]).toEqual([service.url, service.url]);
  });

  test('keeps all commits when the process that started the server is killed', async () => {
    await createDatabase();
    const first = await openElsewhere();
    await query(first.url, 'create table survivors as select generate_series(1, 1000) as n');
    await first.kill();
    await using database = await open();
    expect(await query(database.url, 'select count(*)::int from survivors')).toEqual([{ count: 1000 }]);
  });

  test('is taken over from a server whose starting process is gone', async () => {
    await createDatabase();
    const first = await openElsewhere('service');
    const pid = postmasterPid();
    expect(killWatchdogOf(pid)).toBe(1);
    await first.kill();
    expect(postmasterPid()).toBe(pid);
    await using database = await open();
    expect(postmasterPid()).not.toBe(pid);
    expect(await query(database.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  /** Kills the process that stops the server when its starting process ends. @returns how many such processes it found */
  function killWatchdogOf(postmaster: number): number {
    const lines = execFileSync('ps', ['-eo', 'pid=,pgid=,args='], { encoding: 'utf8' }).split('\n');
    const fields = lines.map((line) => line.trim().split(/\s+/));
    const watchdogs = fields.filter(([, group, ...args]) => Number(group) === postmaster && args.includes('read'));
    for (const [pid] of watchdogs) process.kill(Number(pid), 'SIGKILL');
    return watchdogs.length;
  }

  test('opens after a crash, even if another program now has the server’s process id', async () => {
    await createDatabase();
    const file = join(dataDir, 'postgres/postmaster.pid');
    // Postgres itself ignores a process of another user.
    const other = spawn('sleep', ['600'], { ...(await serverUser()), stdio: 'ignore' });
    onTestFinished(() => void other.kill());
    writeFileSync(file, `${other.pid}\n${join(dataDir, 'postgres')}\n1\n1\n\n127.0.0.1\n\nready   \n`);
    await using database = await open();
    expect(await query(database.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('is not opened while a server that something else has started holds it, which the error names', async () => {
    await createDatabase();
    const user = await serverUser(join(dataDir, 'postgres'));
    const { postgres } = await findPrograms(user);
    const server = await startServer({ postgres, data: join(dataDir, 'postgres'), user, onParentExit: 'QUIT' });
    onTestFinished(() => server.stop('SIGQUIT'));
    for (const role of ['service', 'command'] as const)
      await expect(open(role)).rejects.toThrow(
        `/postgres is in use by process ${server.pid}, a Postgres server that this service did not start: end it, or set`,
      );
  });

  test('is stopped without a checkpoint if it takes too long to stop', async () => {
    await createDatabase();
    const database = await open('service');
    const client = new Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    process.kill(pid, 'SIGSTOP'); // a fast shutdown waits for it for ever, an immediate one for five seconds
    await database[Symbol.asyncDispose]();
    expect(isRunning()).toBe(false);
  });

  test('reports to npm start that its server has ended unexpectedly', async () => {
    await createDatabase();
    await using database = await open('service');
    process.kill(postmasterPid(), 'SIGQUIT');
    await expect(database.ended).rejects.toThrow('Postgres has ended unexpectedly');
  });
});

describe('DATA_DIR', () => {
  const databaseFiles = (files: Record<string, string>) => () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dataDir, 'postgres', name), text);
  };

  test.each([
    [
      'with a database of an earlier version',
      databaseFiles({ PG_VERSION: '18\n' }),
      /earlier version .*: move .* away/,
    ],
    [
      'with a database of another Postgres',
      databaseFiles({ PG_VERSION: '17\n', 'superuser-password': 'p' }),
      /database of Postgres 17, .* brings Postgres 18: move .* away/,
    ],
    ['with something else', databaseFiles({}), /not a database of this service: move .* away/],
    ['that is a file', () => writeFileSync(dataDir, ''), /data is a file: set DATA_DIR/],
    ['in a folder that does not exist', () => (dataDir = join(folder, 'no', 'data')), /does not exist: create it/],
    ['in a file', () => (writeFileSync(join(folder, 'f'), ''), (dataDir = join(folder, 'f/data'))), /does not exist/],
  ])('%s is refused with one sentence', async (_, prepare, message) => {
    prepare();
    await expect(open()).rejects.toMatchObject({ name: 'UserError', message: expect.stringMatching(message) });
  });

  test('loses the draft of a database whose creation was killed', async () => {
    mkdirSync(join(dataDir, 'postgres.new-4194304'), { recursive: true }); // above every process id
    await using _ = await open();
    expect(readdirSync(dataDir)).toEqual(['postgres']);
  });

  test('that is not empty keeps its permissions', async () => {
    await createDatabase();
    chmodSync(dataDir, 0o755);
    await using _ = await open();
    expect(statSync(dataDir).mode & 0o777).toBe(0o755);
  });

  test.runIf(isRoot)('that only root can enter gets a link to a folder of the server’s user', async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    chmodSync(folder, 0o700);
    await using _ = await open();
    const target = await readlink(join(dataDir, 'postgres'));
    onTestFinished(() => rm(target, { recursive: true, force: true }));
    expect(statSync(dataDir)).toMatchObject({ uid: 0 });
    expect(statSync(target)).toMatchObject(await userAndMode(0o700));
  });

  async function userAndMode(mode: number) {
    const user = await serverUser();
    return { ...user, mode: expect.toSatisfy((all: number) => (all & 0o777) === mode) };
  }

  test.runIf(!isRoot || isReachable)('works for an ordinary user, unless they may not write to it', async () => {
    const user = await serverUser(); // undefined for an ordinary user
    mkdirSync(dataDir);
    if (user) chownSync(dataDir, user.uid, user.gid);
    const env = { DATA_DIR: dataDir, HOME: folder };
    const migrated = await startTool('migrate.ts', [], env, folder, user).outcome;
    const { DATA_DIR } = env;
    expect(migrated).toMatchObject({
      status: 0,
      stderr: `Database: embedded Postgres in ${DATA_DIR}, because DATABASE_URL is not set\n`,
    });
    expect(statSync(join(dataDir, 'postgres'))).toMatchObject({ uid: user?.uid ?? process.getuid?.() });

    chmodSync(folder, 0o555);
    const other = { ...env, DATA_DIR: join(folder, 'other') };
    const refused = await startTool('migrate.ts', [], other, folder, user).outcome;
    expect(refused).toEqual({
      status: 1,
      stdout: '',
      stderr: `${other.DATA_DIR} cannot be used by this user: set DATA_DIR to another folder\n`,
    });
    chmodSync(folder, 0o755);
  });
});

test('the error for a platform without Postgres binaries names it and what to do', () => {
  expect(() => installed('sunos-x64')).toThrow(
    'there is no Postgres from npm for sunos-x64: set DATABASE_URL to a Postgres server',
  );
});
