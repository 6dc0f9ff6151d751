import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../../tools/embedded-database.ts';
import { joinOrClaim } from '../../tools/embedded-database/registration.ts';

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'embedded dätabase-'));
});

afterAll(() => rm(dataDir, { recursive: true, force: true }));

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function rowsOf(url: string, query: string): Promise<unknown[]> {
  const client = await connected(url);
  const { rows } = await client.query({ text: query, rowMode: 'array' });
  await client.end();
  return rows;
}

describe('a connection to the embedded database', () => {
  let database: EmbeddedDatabase;

  beforeAll(async () => {
    database = await openEmbeddedDatabase(dataDir);
  });

  afterAll(() => database?.close('now'));

  beforeEach(() => rowsOf(database.url, 'drop table if exists t; create table t (a int)'));

  /** A socket on which the opening message has been answered with the request for the password. */
  async function opened(bytes: Buffer): Promise<Socket> {
    const { hostname, port } = new URL(database.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(bytes);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return socket;
  }

  test('stores and sorts text as UTF-8', async () => {
    expect(await rowsOf(database.url, `show server_encoding`)).toEqual([['UTF8']]);
    const sorted = await rowsOf(database.url, `select x from unnest(array['ä', 'b', 'B', '🐘']) x order by x`);
    expect(sorted.flat().join('')).toBe('Bbä🐘');
  });

  test('waits until the ones before it have gone, however many there are', async () => {
    const numbers = Array.from({ length: 30 }, (_, i) => i);
    const insertAndRead = async (n: number) => {
      const client = await connected(database.url);
      await client.query('begin');
      await client.query('insert into t values ($1)', [n]);
      const { rows } = await client.query('select $1::int as n, count(*)::int as count from t where a = $1', [n]);
      await client.query(n % 2 === 0 ? 'commit' : 'rollback');
      await client.end();
      return rows;
    };
    expect(await Promise.all(numbers.map(insertAndRead))).toEqual(numbers.map((n) => [{ n, count: 1 }]));
    const kept = await rowsOf(database.url, 'select a from t order by a');
    expect(kept.flat()).toEqual(numbers.filter((n) => n % 2 === 0));
  });

  test('has its transaction rolled back when it ends in the middle', async () => {
    const client = await connected(database.url);
    await client.query('begin');
    await client.query('insert into t values (1)');
    client.connection.stream.destroy();
    expect(await rowsOf(database.url, 'select * from t')).toEqual([]);
  });

  test.each([
    ['after Parse', 'P\0\0\0\x10\0select 1\0\0\0'],
    ['after an error, before Sync', 'P\0\0\0\x10\0selec  1\0\0\0'],
    ['in the middle of a message', 'Q\0\0\0\x7fselect'],
  ])('leaves nothing of an exchange that it broke off %s', async (_, bytes) => {
    const client = await connected(database.url);
    client.connection.stream.write(Buffer.from(bytes, 'latin1'));
    await setTimeout(50);
    client.connection.stream.destroy();
    expect(await rowsOf(database.url, 'select 2')).toEqual([[2]]);
  });

  test('leaves no settings, temporary tables or prepared statements behind', async () => {
    const client = await connected(database.url);
    await client.query(`set timezone = 'Asia/Tokyo'; create temporary table scratch (a int); prepare p as select 1`);
    await client.end();
    const left = `select current_setting('timezone'), to_regclass('scratch'), (select count(*)::int from pg_prepared_statements)`;
    expect(await rowsOf(database.url, left)).toEqual([['UTC', null, 0]]);
  });

  test('goes through while a request to cancel comes in, which changes nothing', async () => {
    const client = await connected(database.url);
    const cancel = Buffer.alloc(16);
    [16, 80877102, 1, 2].forEach((value, index) => cancel.writeInt32BE(value, index * 4));
    expect((await opened(cancel)).readyState).not.toBe('open');
    expect(await client.query('select 1')).toMatchObject({ rowCount: 1 });
    await client.end();
  });

  test('is told that there is no encryption, and may go on', async () => {
    const { hostname, port } = new URL(database.url);
    const socket = connect(Number(port), hostname);
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toBe('N');
    socket.destroy();
  });

  test('needs the password', async () => {
    const url = new URL(database.url);
    url.password = 'guess';
    await expect(connected(url.href)).rejects.toMatchObject({ code: '28P01' });
  });

  test('may ask for COPY from itself, which fails, and goes on', async () => {
    const client = await connected(database.url);
    await expect(client.query('copy t from stdin')).rejects.toMatchObject({ code: '57014' });
    expect(await client.query('select 1')).toMatchObject({ rowCount: 1 });
    await client.end();
    expect(await rowsOf(database.url, 'select 1')).toEqual([[1]]);
  });

  test('that sends nonsense is ended without harm to others', async () => {
    const client = await connected(database.url);
    client.connection.stream.write(Buffer.from('z\0\0\0\x04'));
    await new Promise((resolve) => client.once('end', () => resolve(undefined)));
    expect(await rowsOf(database.url, 'select 1')).toEqual([[1]]);
  });
});

/** Opens the database in another process, which prints its URL and, told to, closes it. */
async function elsewhere(): Promise<{ child: ChildProcess; url: string }> {
  const module = new URL('../../tools/embedded-database.ts', import.meta.url).href;
  const script = `
    import { openEmbeddedDatabase } from ${JSON.stringify(module)};
    const database = await openEmbeddedDatabase(process.argv[1]);
    process.stdout.write(database.url);
    process.stdin.once('data', async (how) => { process.stdin.destroy(); await database.close(String(how)); });`;
  const args = ['--input-type=module', '--eval', script, dataDir];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = await once(child.stdout, 'data');
  return { child, url: String(url) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

describe('the data directory', () => {
  test('is opened once: others join, and the one that runs it stays until they have gone', async () => {
    const first = await elsewhere();
    const second = await openEmbeddedDatabase(dataDir);
    expect(second.url).toBe(first.url);
    first.child.stdin?.write('when unused');
    await setTimeout(300);
    expect(await rowsOf(second.url, 'select 1')).toEqual([[1]]);
    await second.close('when unused');
    await ended(first.child);
    expect(existsSync(join(dataDir, 'embedded.json'))).toBe(false);
  });

  test('has one owner when many open it at once', async () => {
    const all = await Promise.all([1, 2, 3, 4].map(elsewhere));
    expect(new Set(all.map(({ url }) => url)).size).toBe(1);
    for (const { child } of all) child.stdin?.write('when unused');
    await Promise.all(all.map(({ child }) => ended(child)));
  });

  test('outlives the sudden death of the process, with all that was committed', async () => {
    const first = await elsewhere();
    const client = await connected(first.url);
    await client.query('create table survivors (n int)');
    await client.query('insert into survivors select generate_series(1, 1000)');
    await client.query('begin; insert into survivors values (0)');
    first.child.kill('SIGKILL');
    await ended(first.child);
    expect(existsSync(join(dataDir, 'embedded.json'))).toBe(true);
    const database = await openEmbeddedDatabase(dataDir);
    expect(await rowsOf(database.url, 'select count(*)::int, min(n) from survivors')).toEqual([[1000, 1]]);
    await database.close('now');
  });

  test('is taken over when the process named there is another one by now', async () => {
    const stale = { pid: process.ppid, url: 'postgres://postgres:x@127.0.0.1:1/postgres' };
    await writeFile(join(dataDir, 'embedded.json'), JSON.stringify(stale));
    const database = await openEmbeddedDatabase(dataDir);
    expect(JSON.parse(await readFile(join(dataDir, 'embedded.json'), 'utf8'))).toEqual({
      pid: process.pid,
      url: database.url,
    });
    await database.close('now');
  });

  test('is left without a trace, also right after others have been told that it is about to be', async () => {
    const folder = join(dataDir, 'claimed');
    for (let run = 0; run < 20; run++) {
      const claim = await joinOrClaim(folder);
      if ('url' in claim) throw new Error('nobody else has it');
      await Promise.all([claim.publish(null), claim.release()]);
      expect(await readdir(folder)).toEqual([]);
    }
  });

  test('can be closed in the middle of a query', async () => {
    const database = await openEmbeddedDatabase(dataDir);
    const client = await connected(database.url);
    const broken = client.query('select pg_sleep(30)').catch(() => 'broken');
    await setTimeout(50);
    await database.close('now');
    expect(await broken).toBe('broken');
  });
});
