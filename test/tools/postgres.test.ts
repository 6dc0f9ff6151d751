import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readlink, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../tools/database.ts';
import { startEmbedded } from '../../tools/postgres/embedded.ts';
import { canReach, type OsUser, serverUser } from '../../tools/postgres/os-user.ts';
import { query } from '../support/database.ts';
import { newFolder } from '../support/once-per-run.ts';

const isRoot = process.getuid?.() === 0;
const isReachable = await canReach(dirname(fileURLToPath(import.meta.url)), await serverUser());

/** Whom the first test runs as; undefined for this process's own user. */
const user = isReachable ? await serverUser() : undefined;

/**
 * A DATA_DIR that the first test creates, and whose server each test stops: creating a database
 * takes a second.
 */
const shared = join(await newFolder(), 'shared data ü');
let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = await newFolder();
  dataDir = join(folder, 'data ü');
});

const lockFile = (folderOfData: string) => join(folderOfData, 'postgres/postmaster.pid');
const postmasterPid = (folderOfData: string) =>
  Number.parseInt(readFileSync(lockFile(folderOfData), 'utf8'), 10);

/** Starts the server from another process, which stops it when it is killed. */
async function startElsewhere(DATA_DIR: string, as?: OsUser) {
  const module = new URL('../../tools/postgres/embedded.ts', import.meta.url).href;
  const script = `
    import { startEmbedded } from ${JSON.stringify(module)};
    const database = await startEmbedded(process.argv[1]).catch(({ message }) => ({ url: message }));
    process.stdout.write(database.url);`;
  const args = ['--input-type=module', '--eval', script, DATA_DIR];
  const child = spawn(process.execPath, args, {
    ...as,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    printed: String(printed),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('the embedded database', () => {
  test('is created once, by an ordinary user, and has one server, if two processes start it at the same time', async () => {
    // above every process id
    mkdirSync(join(shared, 'postgres.new-4194304'), { recursive: true, mode: 0o755 });
    if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, shared]);
    const both = await Promise.all([startElsewhere(shared, user), startElsewhere(shared, user)]);
    const message = `${shared} is in use by Postgres (process ${postmasterPid(shared)}): stop its npm start, or set DATA_DIR`;
    expect(both.map(({ printed }) => printed).toSorted()).toEqual([
      expect.stringContaining(message),
      expect.stringMatching(/^postgres:/),
    ]);
    // without what was left by one that was killed
    expect(readdirSync(shared)).toEqual(['postgres']);
    expect(statSync(shared).mode & 0o777).toBe(0o755); // it was not empty, so it may be shared
    expect(statSync(join(shared, 'postgres'))).toMatchObject({
      uid: user?.uid ?? process.getuid?.(),
    });
    expect(
      execFileSync('find', [join(shared, 'postgres'), '-perm', '/077'], { encoding: 'utf8' }),
    ).toBe('');
    await both.find(({ printed }) => printed.startsWith('postgres:'))?.kill();
    await expect.poll(() => existsSync(lockFile(shared))).toBe(false); // its server has ended
  });

  test('waits for another server that has only begun to start', async () => {
    writeFileSync(lockFile(shared), '');
    const [database] = await Promise.all([
      startEmbedded(shared),
      sleep(1000).then(() => rm(lockFile(shared))),
    ]);
    expect(database.url).toMatch(/^postgres:/);
    await database[Symbol.asyncDispose]();
  });

  test('is used by commands while its server accepts connections, is durable, sorts UTF-8 text by code point, and requires its password', async () => {
    const open = () => openDatabase({ DATA_DIR: shared });
    const message = `There is no database to use: set DATABASE_URL, or let "npm start" (or "npm run dev") run on the DATA_DIR ${shared} meanwhile.`;
    const refusal = { name: 'UserError', message };
    await expect(open()).rejects.toMatchObject(refusal);
    const database = await startEmbedded(shared);
    const [settings] = await query(
      database.url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
         current_setting('full_page_writes') as pages, current_setting('server_encoding') as encoding,
         (select string_agg(x, '' order by x) from unnest(array['ä', 'b', 'B', '🐘']) x) as sorted`,
    );
    const durable = { fsync: 'on', commit: 'on', pages: 'on' };
    expect(settings).toEqual({ ...durable, encoding: 'UTF8', sorted: 'Bbä🐘' });
    const guess = Object.assign(new URL(database.url), { password: 'guess' });
    await expect(query(guess.href, 'select')).rejects.toMatchObject({ code: '28P01' });
    const file = readFileSync(lockFile(shared), 'utf8');
    expect(await open()).toEqual({
      url: database.url,
      description: `embedded Postgres in ${shared}`,
    });
    await database[Symbol.asyncDispose]();
    await expect(open()).rejects.toMatchObject(refusal);
    // A crash leaves the file. Another process may have been given the process id, but not the
    // port.
    for (const left of [file, file.replace(/^\d+/, String(process.pid))]) {
      writeFileSync(lockFile(shared), left);
      await expect(open()).rejects.toMatchObject(refusal);
    }
  });

  test('keeps all commits when the process that started the server is killed, and starts again when the server has ended', async () => {
    const first = await startElsewhere(shared);
    await query(first.printed, 'create table survivors as select generate_series(1, 1000) as n');
    const postmaster = postmasterPid(shared);
    process.kill(postmaster, 'SIGSTOP'); // it ends later
    await first.kill();
    const started = startEmbedded(shared);
    started.catch(() => {});
    await sleep(1_000);
    process.kill(postmaster, 'SIGCONT');
    await using database = await started;
    expect(await query(database.url, 'select count(*)::int from survivors')).toEqual([
      { count: 1000 },
    ]);
  });

  test('is stopped without a checkpoint if it takes too long to stop, and can be started again', async () => {
    const database = await startEmbedded(shared);
    const client = new Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    // a fast shutdown waits for it without end, an immediate one for five seconds
    process.kill(pid, 'SIGSTOP');
    await database[Symbol.asyncDispose]();
    expect(existsSync(lockFile(shared))).toBe(false);

    await using again = await startEmbedded(shared);
    process.kill(postmasterPid(shared), 'SIGQUIT');
    await expect(again.ended).rejects.toThrow('Postgres has ended unexpectedly');
  });
});

describe('DATA_DIR', () => {
  const databaseFiles = (files: Record<string, string>) => () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(dataDir, 'postgres', name), text);
  };

  test.each([
    [
      'with a database of an earlier version',
      databaseFiles({ PG_VERSION: '18\n' }),
      /is not a database of this version/,
    ],
    [
      'with a database of another Postgres',
      databaseFiles({ PG_VERSION: '17\n', 'superuser-password': 'p' }),
      /database of Postgres 17, .* brings Postgres 18: move .* away/,
    ],
    ['that is a file', () => writeFileSync(dataDir, ''), /data ü is a file: set DATA_DIR/],
    [
      'in a folder that does not exist',
      () => (dataDir = join(folder, 'no', 'data')),
      /does not exist: create it/,
    ],
  ])('%s is refused with one sentence', async (_, prepare, message) => {
    prepare();
    const error = { name: 'UserError', message: expect.stringMatching(message) };
    await expect(startEmbedded(dataDir)).rejects.toMatchObject(error);
  });

  test.runIf(isRoot)(
    'that only root can enter gets a link to a folder of the server’s user',
    async () => {
      mkdirSync(dataDir, { mode: 0o700 });
      chmodSync(folder, 0o700);
      await using database = await startEmbedded(dataDir);
      const target = await readlink(join(dataDir, 'postgres'));
      onTestFinished(() => rm(target, { recursive: true, force: true }));
      expect(statSync(dataDir)).toMatchObject({ uid: 0 });
      const mode = expect.toSatisfy((all: number) => (all & 0o777) === 0o700);
      expect(statSync(target)).toMatchObject({ ...(await serverUser()), mode });
      expect(await openDatabase({ DATA_DIR: dataDir })).toMatchObject({ url: database.url });
    },
  );

  test.runIf(!isRoot || isReachable)(
    'that an ordinary user may not create is refused with one sentence',
    async () => {
      chmodSync(folder, 0o555);
      const { printed } = await startElsewhere(dataDir, user);
      expect(printed).toBe(
        `${dataDir} cannot be written to by this user: set DATA_DIR to another folder`,
      );
      chmodSync(folder, 0o755);
    },
  );
});
