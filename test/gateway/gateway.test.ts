import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { LogLine } from '../../gateway/server.ts';
import { withConnection } from '../../tools/connection.ts';
import { turns } from '../../gateway/turns.ts';
import { startTestGateway, TOKEN } from '../support/sql-endpoint.ts';
import { startPostgres } from '../support/postgres.ts';

const CONNECTIONS = 3;
const LONG = 'select pg_sleep(600)';
const MIB = 1024 * 1024;

/** Starts a gateway for one test. */
async function startFor(...options: Parameters<typeof startTestGateway>) {
  const gateway = await startTestGateway(...options);
  onTestFinished(() => gateway.close());
  return gateway;
}

describe('the gateway', async () => {
  const server = await startPostgres();
  const databaseUrl = await server.createDatabase();
  const gateway = await startTestGateway(databaseUrl, { connections: CONNECTIONS });
  afterAll(async () => {
    await gateway.close();
    await server.stop();
  });

  const startOther = (options?: Parameters<typeof startTestGateway>[1]) =>
    startFor(databaseUrl, options);

  /** Sessions of the database, other than the one that looks. */
  const OTHERS =
    'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const countLong = async () =>
    (await gateway.directly(`select ${OTHERS} and query = $1 and state = 'active'`, [LONG])).length;
  const waiting = () => gateway.directly('select from pg_locks where not granted');
  const loggedIn = async () => {
    const query = 'select sessions from pg_stat_database where datname = current_database()';
    return Number((await gateway.directly(query))[0]?.[0]);
  };

  test.each([
    ['none', '', ''],
    ['another', `Bearer ${TOKEN}x`, ''],
    ['without Bearer', TOKEN, ''],
    ['none but in the URL', '', `?token=${TOKEN}`],
  ])(
    'refuses a token that is not its own (%s), without a connection to Postgres',
    async (_, Authorization, query) => {
      const before = await loggedIn();
      const headers = { ...gateway.as(), Authorization };
      const response = await fetch(gateway.url + query, { method: 'POST', headers });
      expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
      expect((await loggedIn()) - before).toBe(1); // that of `loggedIn`
    },
  );

  test('closes connections without the token, which take no room of those with it', async () => {
    const other = await startOther();
    const { hostname, port } = new URL(other.url);
    expect(await other.rowsOf('select 1')).toEqual([['1']]); // fetch keeps this connection
    const strangers = Array.from({ length: 1_001 }, () =>
      connect(Number(port), hostname).on('error', () => {}),
    );
    onTestFinished(() => strangers.forEach((socket) => socket.destroy()));
    await Promise.all(strangers.map((socket) => once(socket, 'connect')));
    const rows = Array.from({ length: 2 * CONNECTIONS }, () => other.rowsOf('select 2'));
    expect(new Set((await Promise.all(rows)).flat(2))).toEqual(new Set(['2']));
    const { headers } = await other.post({ query: 'select 1' }, { Authorization: '' });
    expect(headers.get('Connection')).toBe('close');
  });

  test('closes a connection that sends a request before the response to the one before', async () => {
    const lines: LogLine[] = [];
    const other = await startOther({ log: (line) => lines.push(line) });
    const { hostname, port } = new URL(other.url);
    const pipelining = connect(Number(port), hostname).on('error', () => {});
    pipelining.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    await once(pipelining.resume(), 'close');
    await expect.poll(() => lines.length).toBe(1);
  });

  test('reads no body before Postgres has checked the password', async () => {
    const wrong = gateway.as({ password: 'wrong' });
    expect(await gateway.failure('this is not JSON', wrong)).toMatchObject({
      message: expect.stringContaining('password authentication failed'),
    });
  });

  const TOO_MANY = 'it has too many values, or too deep';
  test.each([
    ['many statements', `{"queries":[${'{"query":""},'.repeat(300_000)}{"query":""}]}`, TOO_MANY],
    ['many parameters', `{"query":"","params":[${'0,'.repeat(300_000)}0]}`, TOO_MANY],
    ['many lists', `{"query":"","params":${'['.repeat(300_000)}`, TOO_MANY],
    ['what is not UTF-8', Buffer.from(`{"query":"select 'caf\xe9'"}`, 'latin1'), 'it is not JSON'],
  ])('refuses a request with %s', async (_, body, reason) => {
    const message = `could not parse the HTTP request body: ${reason}`;
    expect(await gateway.failure(body)).toMatchObject({ status: 400, message });
  });

  test('lets a limited number of requests wait', async () => {
    const { signal } = new AbortController();
    const take = turns(1, 'places');
    await take(signal, 1);
    for (let i = 0; i < 1_000; i++) take(signal, 1).catch(() => {});
    await expect(take(signal, 1)).rejects.toMatchObject({
      status: 503,
      message: 'places are in use, and none became free within 0 s',
    });
  });

  test('limits results without rows', async () => {
    const columns = Array.from({ length: 1_600 }, (_, i) => `column_${i} text`);
    await gateway.directly(`create table wide (${columns.join()})`);
    const queries = Array.from({ length: 2 }, () => ({ query: 'table wide' }));
    expect(await gateway.failure({ queries })).toMatchObject({ status: 507 });
  });

  // At the same time, since each waits for 10 s.
  describe('waits', { concurrent: true }, () => {
    test('for a free connection, or for room for a large request, and then responds with 503', async ({
      onTestFinished: defer,
    }) => {
      const headers = { ...gateway.as(), 'Content-Length': 64 * MIB };
      const large = Array.from({ length: 2 }, () => {
        const unfinished = request(gateway.url, { method: 'POST', headers });
        unfinished.on('error', () => {}).write(Buffer.alloc(MIB));
        return unfinished;
      });
      defer(() => large.forEach((unfinished) => unfinished.destroy()));
      await sleep(1_000);
      expect(await gateway.rowsOf('select 1')).toEqual([['1']]);

      const other = await startTestGateway(databaseUrl, { connections: 1 });
      defer(() => other.close());
      other.post({ query: LONG }).catch(() => {});
      await expect.poll(countLong).toBe(1);

      const failures = await Promise.all([
        gateway.failure({ query: 'select 1', params: ['x'.repeat(MIB)] }),
        other.failure({ query: 'select 1' }),
      ]);
      const reason = 'are in use, and none became free within 10 s';
      expect(failures).toMatchObject([
        { status: 503, message: `${256 * MIB} bytes for large requests and responses ${reason}` },
        { status: 503, message: `all 1 connections to Postgres ${reason}`, code: '' },
      ]);
    });

    test('for a client that does not complete its request, and then closes', async () => {
      const other = await startTestGateway(databaseUrl);
      const { hostname, port } = new URL(other.url);
      connect(Number(port), hostname)
        .on('error', () => {})
        .write('POST /sql HTTP/1.1\r\nHost: x'); // and no more
      // by now, that has arrived
      await fetch(new URL('/healthz', other.url)).then((response) => response.text());
      await expect(other.close(false)).resolves.toBeUndefined();
    });
  });

  test('serves a database whose name a URL must encode', async () => {
    await gateway.directly('create database "a/b %2F ü"');
    const url = new URL(databaseUrl);
    url.pathname = '/a%2Fb%20%252F%20%C3%BC';
    const other = await startFor(url.href);
    for (const database of [url.pathname, '/a%2fb %252F ü'])
      expect(await other.rowsOf('select current_database()', [], other.as({ database }))).toEqual([
        ['a/b %2F ü'],
      ]);
  });

  test.each(['POST /', 'POST /sql/', 'POST /sql?a=b', 'GET /sql'])(
    'serves POST /sql only, not %s',
    async (what) => {
      const [method = '', path = ''] = what.split(' ');
      const init = { method, headers: gateway.as() };
      const response = await fetch(new URL(gateway.url).origin + path, init);
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining('expected POST /sql'),
      ]);
    },
  );

  test('serves no other host, port and database than its own, and lets nobody slip a parameter in', async () => {
    const own = gateway.connectionString();
    const { username, password, host, hostname, port, pathname } = new URL(own);
    const login = `postgresql://${username}:${password}`;
    const hosts = [
      'evil.example',
      '[::1]',
      '127.0.0.1%00',
      '127.0.0.1,evil.example',
      'x@evil.example',
    ];
    const paths = ['', '/postgres', `${pathname}/x`, `/${pathname}`, `${pathname}%00`];
    const parameters = ['host=evil.example', 'dbname=postgres', 'user=reader'];
    const refused = [
      ...hosts.map((other) => `${login}@${other}:${port}${pathname}`),
      `${login}@${hostname}${pathname}`,
      `${login}@${hostname}:1${pathname}`,
      `${login}@evil.example#@${host}${pathname}`,
      `${login}@evil.example/@${host}${pathname}`,
      ...paths.map((path) => `${login}@${host}${path}`),
      ...parameters.map((parameter) => `${own}?sslmode=require&${parameter}`),
      '',
      own.replace('postgresql:', 'https:'),
      own.replace(`${username}:`, `${username}%00database%00postgres:`),
      own.replace(`:${password}@`, '@'),
    ];
    const before = await loggedIn();
    for (const text of refused) {
      const failure = await gateway.failure(
        { query: 'select 1' },
        { 'Neon-Connection-String': encodeURI(text).replaceAll('%25', '%') },
      );
      expect([text, failure]).toMatchObject([
        text,
        { status: 400, code: '', message: expect.stringMatching(/^invalid connection string/) },
      ]);
      expect(JSON.stringify(failure)).not.toContain(password);
    }
    expect((await loggedIn()) - before).toBe(1);
    expect(
      await gateway.rowsOf('select 1', [], { 'Neon-Connection-String': `${own}?sslmode=require` }),
    ).toEqual([['1']]);
  });

  test.each(['declared', 'chunked'])(
    'refuses a request that is too large as soon as that is known (%s)',
    async (how) => {
      const declared = how === 'declared' ? { 'Content-Length': 64 * MIB + 1 } : {};
      const headers = { ...gateway.as(), ...declared };
      const large = request(gateway.url, { method: 'POST', headers }).on('error', () => {});
      large.write('x'); // and no end
      if (how === 'chunked') for (let i = 0; i < 64; i++) large.write(Buffer.alloc(MIB));
      const [response] = (await once(large, 'response')) as [{ statusCode: number }];
      expect(response.statusCode).toBe(413);
      large.destroy();
    },
  );

  test('runs no statement of a client that disconnected while it waited for a connection', async () => {
    const other = await startOther({ connections: 1 });
    await withConnection(databaseUrl, async (holder) => {
      await holder.query('select pg_advisory_lock(1)');
      const first = other.rowsOf('select pg_advisory_xact_lock(1)::text');
      await expect.poll(waiting).toHaveLength(1);
      const leaving = new AbortController();
      const second = other
        .post({ query: 'create table unwanted ()' }, {}, leaving.signal)
        .catch(() => {});
      await sleep(300);
      leaving.abort();
      await second;
      await sleep(300);
      await holder.query('select pg_advisory_unlock(1)');
      await first;
    });
    expect(await other.rowsOf(`select to_regclass('unwanted')::text`)).toEqual([[null]]);
  });

  test('never exceeds the limit of connections: further requests wait, and each gets its own result', async () => {
    // Counts the connections that have run this statement, and waits.
    const count = `select $1, pg_advisory_xact_lock_shared(2)::text, count(*)
      from pg_stat_activity where query = current_query()`;
    const counts = await withConnection(databaseUrl, async (holder) => {
      await holder.query('select pg_advisory_lock(2)');
      const running = Array.from({ length: 4 * CONNECTIONS }, (_, i) =>
        gateway.rowsOf(count, [String(i)]),
      );
      await expect.poll(waiting).toHaveLength(CONNECTIONS);
      await holder.query('select pg_advisory_unlock(2)');
      return Promise.all(running);
    });
    expect(counts.map(([row]) => row?.[0])).toEqual(counts.map((_, i) => String(i)));
    expect(Math.max(...counts.map(([row]) => Number(row?.[2])))).toBe(CONNECTIONS);
  });

  test('lets wrong passwords wait for each other', async () => {
    const other = await startOther({ connections: 1 });
    const begun = Date.now();
    const guess = (password: string) =>
      other.failure({ query: 'select 1' }, other.as({ password }));
    const message = 'password authentication failed for user "postgres"';
    const failure = { status: 400, code: '', message };
    expect(await Promise.all(['a', 'b'].map(guess))).toMatchObject([failure, failure]);
    // a lower bound, which load cannot break
    expect(Date.now() - begun).toBeGreaterThanOrEqual(1900);
    expect(await other.rowsOf('select 1')).toEqual([['1']]);
  });

  test('cuts off clients that do not read, and sends four large responses at a time', async () => {
    const lines: LogLine[] = [];
    const other = await startOther({ maxResponseBytes: 64 * MIB, log: (line) => lines.push(line) });
    const query = `select repeat('x', ${MIB}) from generate_series(1, 20)`;
    const lazy = Array.from({ length: 4 }, async () => {
      const slow = request(other.url, { method: 'POST', headers: other.as() });
      slow.end(JSON.stringify({ query }));
      const [response] = (await once(slow, 'response')) as [Readable];
      response.pause().on('error', () => {});
    });
    await Promise.all(lazy);
    const cutOff = () =>
      lines.filter(({ end, bytes }) => end === 'client left' && bytes > 20 * MIB).length;

    // its turn comes when one of them is cut off
    const { status, text } = await other.post({ query });
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(20 * MIB);
    expect(cutOff()).toBeGreaterThan(0);
    await expect.poll(cutOff).toBe(4);
  });

  test.each([
    ['a row with JSON', `select repeat(E'\\x01', ${20 * MIB})`],
    [
      'an error',
      // which the server need not log
      `do $$ begin
         set local log_min_messages = panic;
         raise '%', repeat('x', ${100 * MIB});
       end $$`,
    ],
  ])('refuses %s of 100 MB', async (_, query) => {
    expect(await gateway.failure({ query })).toMatchObject({ status: 507 });
  });

  test('logs a line for each request, without SQL, values, passwords and the token', async () => {
    const lines: LogLine[] = [];
    const other = await startOther({ log: (line) => lines.push(line) });
    const secret = 'a value that nobody may see';
    await other.post({ query: 'select $1::int', params: [secret] });
    await other.post({ query: `select '${secret}'` });
    await other.post({ query: secret }, { Authorization: secret });
    const line = {
      durationMs: expect.any(Number),
      bytes: expect.any(Number),
      id: expect.stringMatching(/^[\w-]{36}$/),
      end: 'complete',
    };
    await expect.poll(() => lines).toHaveLength(3);
    expect(lines).toEqual([
      { ...line, user: 'postgres', status: 400, code: '22P02' },
      { ...line, user: 'postgres', status: 200 },
      { ...line, status: 401, error: expect.stringContaining('Authorization') },
    ]);
    expect(JSON.stringify(lines)).not.toContain('nobody may see');
  });

  test('replaces its connections when the server closes all of them while they are idle', async () => {
    await Promise.all([gateway.rowsOf('select 1'), gateway.rowsOf('select 2')]);
    await gateway.directly(`select pg_terminate_backend(pid) ${OTHERS}`);
    await expect.poll(() => gateway.directly(`select ${OTHERS}`)).toEqual([]);
    expect(await gateway.rowsOf('select 1')).toEqual([['1']]);
  });

  // Last, because the server then closes its other connections as well.
  test('responds with 400 when a connection is lost without an error of the server', async () => {
    const lost = gateway.failure({ query: LONG });
    await expect.poll(countLong).toBe(1);
    const [[pid] = []] = await gateway.directly(
      'select pid from pg_stat_activity where query = $1',
      [LONG],
    );
    process.kill(Number(pid), 'SIGKILL');
    expect(await lost).toMatchObject({ status: 400, message: 'connection closed', code: '' });
  });

  test('has a health check, which needs no token and does not log in', async () => {
    const health = async () => (await fetch(new URL('/healthz', gateway.url))).status;
    await expect.poll(health).toBe(200);
    await server.stop();
    await expect.poll(health).toBe(503);
  });
});

describe('the gateway without a database', () => {
  test.each([
    ['[::1]:1/survey', '[::1]:1/survey'],
    ['/survey?host=/nowhere', 'localhost:5432/survey'],
    ['LOCALHOST:1/survey?sslmode=disable', 'localhost:1/survey'],
  ])('at %s returns 500 to connection strings for %s, without the password', async (...urls) => {
    const [database, named] = urls;
    const gateway = await startFor(`postgresql://${database}`);
    const failure = await gateway.failure(
      { query: 'select 1' },
      { 'Neon-Connection-String': `postgresql://u:secret@${named}` },
    );
    const message = expect.stringMatching(
      /^error connecting to server: connect E(?:CONNREFUSED|NOENT|ADDRNOTAVAIL) /,
    );
    expect(failure).toMatchObject({ status: 500, message, code: '' });
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  test('closes while a server does not respond', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const gateway = await startTestGateway(`postgres://u:p@127.0.0.1:${port}/survey`);
    const outcome = gateway.post({ query: 'select 1' }).catch(String);
    await once(silent, 'connection');
    await gateway.close();
    silent.close();
    expect(await outcome).toBe('TypeError: fetch failed');
  });
});
