import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDemoData } from '../../tools/demo-data.ts';
import { migrate } from '../../tools/migrations.ts';
import { type SqlGateway, startSqlGateway } from '../../tools/sql-gateway.ts';
import { endpointOf } from '../../tools/verify-neon/endpoint.ts';
import { PROTOCOL_CHECKS } from '../../tools/verify-neon/protocol.ts';
import { verifyNeon } from '../../tools/verify-neon/verify-neon.ts';
import { SESSION_CHECKS } from '../../tools/verify-neon/sessions.ts';
import { WORKER_CHECKS } from '../../tools/verify-neon/worker-checks.ts';
import { dump, query } from '../support/database.ts';
import { LIMIT } from '../support/gateway.ts';
import { type TestPostgres, startPostgres } from '../support/postgres.ts';
import { startTool } from '../support/run-tool.ts';
import { type Exchange, type Fault, type Proxy, startProxy } from './verify-proxy.ts';

let server: TestPostgres;
let databaseUrl: string;
let gateway: SqlGateway;
let proxy: Proxy;
let rolePassword: string;

beforeAll(async () => {
  server = await startPostgres();
  databaseUrl = await server.createDatabase();
  rolePassword = decodeURIComponent(new URL(databaseUrl).password); // the endpoint's, which the owner's has to be as well
  const limits = { maxResponseBytes: LIMIT, maxRequestBytes: LIMIT };
  gateway = await startSqlGateway({ database: databaseUrl, password: rolePassword, ...limits });
  proxy = await startProxy(gateway.url);
});
afterAll(async () => {
  await proxy?.close();
  await gateway?.close();
  await server?.stop();
});

/** The outcomes other than `holds`, by name. */
async function verified(signal?: AbortSignal, { origin } = proxy): Promise<Record<string, string>> {
  const options = { endpoint: `${origin}/sql`, rolePassword };
  const results = await verifyNeon(databaseUrl, signal ? { ...options, signal } : options);
  expect(results).toHaveLength(WORKER_CHECKS.length + PROTOCOL_CHECKS.length + SESSION_CHECKS.length);
  const other = results.filter(({ outcome }) => outcome !== 'holds');
  return Object.fromEntries(other.map(({ name, outcome, details }) => [name, `${outcome}: ${details}`]));
}

test('the time that a suspended database took to wake up is named', async () => {
  const suspended = await startPostgres();
  const { port, password } = new URL(suspended.url);
  let waking: Promise<void> | undefined;
  // Neon's proxy accepts a connection, and starts the server of a suspended compute before it passes it on.
  const front = createServer(async (socket) => {
    socket.on('error', () => {});
    await (waking ??= suspended.restart());
    pipeline(socket, connect(Number(port), '127.0.0.1'), socket, () => {});
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const own = await startSqlGateway({ database: suspended.url, password: decodeURIComponent(password) });
  const url = Object.assign(new URL(suspended.url), { port: String((front.address() as AddressInfo).port) });
  const lines: string[] = [];
  const enough = new AbortController();
  const log = (line: string) => {
    lines.push(line);
    enough.abort(new Error('enough'));
  };
  const options = { endpoint: own.url, rolePassword, log, signal: enough.signal };
  await expect(verifyNeon(url.href, options)).rejects.toThrow('enough');
  expect(lines[0]).toMatch(/^Testing http:.*, which woke up within \d+ ms$/);
  front.close();
  await own.close();
  await suspended.stop();
});

test('a missing Content-Length is a difference, and where cancel requests do not arrive, only the role’s statements end', async () => {
  const options = { database: databaseUrl, password: rolePassword, sendsCancelRequests: false };
  const own = await startSqlGateway({ ...options, maxResponseBytes: LIMIT, maxRequestBytes: LIMIT });
  const ownProxy = await startProxy(own.url);
  ownProxy.inject({ onResponse: ({ headers }) => delete headers['content-length'] });
  try {
    expect(await verified(undefined, ownProxy)).toEqual({
      ...NOT_TESTED,
      [MEMBERS]: expect.stringMatching(/^differs: Content-Length: null, expected "\d+"$/) as string,
      'a statement of the owner is cancelled when its client disconnects': 'differs: it is still running after 15 s',
    });
  } finally {
    await ownProxy.close();
    await own.close();
  }
});

/** What is left behind: schemas and roles. */
const leftBehind = () =>
  query(
    databaseUrl,
    `select nspname from pg_namespace where nspname ~ '^verify'
    union all select rolname from pg_roles where rolname ~ '^verify'`,
  );

const MEMBERS = 'a response has its Content-Length, a neon-request-id, and its members in the order of Neon’s proxy';

/** The stand-in has one password for all roles, and serves one database whatever the host. */
const NOT_TESTED = Object.fromEntries(
  [
    'a new password holds at once, and the old one no longer',
    'an unknown endpoint makes the database unavailable to the Worker',
  ].map((name) => [name, expect.stringMatching(/^not tested/)]),
);

test('everything holds for the local stand-in, and nothing is left behind', async () => {
  proxy.inject({});
  expect(await verified()).toEqual(NOT_TESTED);
  expect(await leftBehind()).toEqual([]);
});

test('tables and the role of an installed service are not touched', async () => {
  const installed = await server.createDatabase();
  await migrate(installed);
  await loadDemoData(installed);
  const state = async () => ({
    rows: await dump(installed),
    roles: await query(installed, `select * from pg_roles where rolname = 'survey_export_worker'`),
  });
  const before = await state();
  const own = await startSqlGateway({ database: installed, password: rolePassword });
  try {
    await verifyNeon(installed, { endpoint: own.url, rolePassword });
  } finally {
    await own.close();
  }
  expect(await state()).toEqual(before);
});

test('an interrupted run leaves nothing behind', async () => {
  proxy.inject({});
  const interruption = new AbortController();
  const run = verified(interruption.signal).catch(String);
  await expect.poll(async () => (await leftBehind()).length).toBe(2);
  await sleep(50);
  interruption.abort(new Error('interrupted'));
  expect(await run).toContain('interrupted');
  expect(await leftBehind()).toEqual([]);
});

function edit(exchange: Exchange, pattern: string | RegExp, by: string): void {
  exchange.body = Buffer.from(exchange.body.toString().replaceAll(pattern, by));
}

/** What is wrong, and the statements that fail because of it. All are injected at the same time. */
const faults: readonly [string, Fault, string[]][] = [
  [
    'settings that survive a request',
    {
      onResponse: (exchange) => {
        if (exchange.requestBody.includes("current_setting('verify.setting'")) edit(exchange, 'null', '"1"');
      },
    },
    ['a request leaves no setting, temporary table or transaction behind'],
  ],
  [
    'timestamps without microseconds',
    { onResponse: (exchange) => edit(exchange, '43.770047', '43.77') },
    ['values come as Postgres prints them'],
  ],
  [
    'JSON with spaces',
    {
      onResponse: (exchange) => {
        if (exchange.status === 200) edit(exchange, '],"command"', '], "command"');
      },
    },
    ['a result has fields, rows and rowCount, as JSON without spaces', MEMBERS],
  ],
  [
    'another status than 507',
    {
      onResponse: (exchange) => {
        if (exchange.status === 507) exchange.status = 500;
      },
    },
    ['a response above the limit is 507, unless it is a single row, and the next request is served'],
  ],
  [
    'a statement that continues after its client has disconnected',
    { hidesDisconnects: true },
    [
      'a statement of the role ends when its client disconnects',
      'a statement of the owner is cancelled when its client disconnects',
    ],
  ],
  [
    'a wrong password that is accepted',
    {
      onRequest: ({ headers }) => {
        headers['neon-connection-string'] = String(headers['neon-connection-string']).replace(
          ':wrong@',
          `:${rolePassword}@`,
        );
      },
    },
    ['a wrong password makes the database unavailable to the Worker'],
  ],
  [
    'errors without a message of Neon’s',
    { onResponse: (exchange) => edit(exchange, 'missing username', 'who are you?') },
    ['a connection string without a user is 400'],
  ],
];

test(`names ${faults.map(([what]) => what).join('; ')}`, async () => {
  proxy.inject({
    onRequest: (request) => faults.forEach(([, { onRequest }]) => onRequest?.(request)),
    onResponse: (exchange) => faults.forEach(([, { onResponse }]) => onResponse?.(exchange)),
    hidesDisconnects: true,
  });
  const found = Object.keys(await verified()).filter((name) => !(name in NOT_TESTED));
  expect(found.toSorted()).toEqual(faults.flatMap(([, , names]) => names).toSorted());
  expect(await leftBehind()).toEqual([]);
});

describe('npm run verify:neon', () => {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => startTool('verify-neon.ts', args, env).outcome;

  test('prints a table, and exits with 1 when a statement fails', async () => {
    proxy.inject({ onResponse: (exchange) => edit(exchange, '43.770047', '43.77') });
    const args = ['--endpoint', `${proxy.origin}/sql`, '--role-password', rolePassword];
    const { status, stdout } = await run(args, { DATABASE_URL: databaseUrl });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^FAILS {7}values come as Postgres prints them/m);
    expect(stdout).toMatch(/^holds {7}a response above the limit .* the limit is 65536 bytes$/m);
    expect(stdout).not.toContain(`${rolePassword}@`);
  });

  test.each([
    [[], /^DATABASE_URL: expected the URL of the database's owner\n$/],
    [['--database', 'postgres://a:b@127.0.0.1:1/c'], /^Cannot connect to Postgres 127\.0\.0\.1:1\/c/],
    [['--database', 'x', '--endpoint', 'y'], /^--endpoint: expected a URL/],
  ])('%j fails in one line', async (args, message) => {
    const { status, stderr } = await run(args);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
  });
});

test('the endpoint is the one that the driver derives from the host', () => {
  const url = 'postgresql://owner:secret@ep-a-b-123.eu-central-1.aws.neon.tech/neondb?sslmode=require';
  expect(endpointOf(url)).toBe('https://api.eu-central-1.aws.neon.tech/sql');
  expect(() => endpointOf('postgres://me:p@127.0.0.1:5432/db')).toThrow(
    '--endpoint: 127.0.0.1 is not a host of Neon, so give the URL of its SQL endpoint',
  );
});
