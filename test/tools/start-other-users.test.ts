import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { processTree } from '../../bench/process-stats.ts';
import { freePort, startService } from '../support/npm-start.ts';
import { commandLines, listeningPorts, openFiles } from '../support/processes.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
/** Neither root nor the user that the database server runs as. */
const STRANGER = { uid: 54_321, gid: 54_321 };
/** The id of the KV namespace in wrangler.toml. */
const NAMESPACE = '0'.repeat(32);

describe('while npm start is running, another user of the machine', () => {
  let dataDir: string;
  let port: number;
  let service: Awaited<ReturnType<typeof startService>>;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'test-start-'));
    // Others may read the folder, and what `wrangler dev` has left in it.
    await chmod(dataDir, 0o755);
    await mkdir(join(dataDir, 'kv/v3'), { recursive: true });
    await writeFile(join(dataDir, 'kv/v3/traces'), '9272908327168660');
    port = await freePort();
    service = await startService({ PORT: String(port), DATA_DIR: dataDir });
    await get('/api/v1/surveys', service.key); // now the key is in the cache
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  const get = (path: string, key?: string, init: Omit<RequestInit, 'headers'> & { headers?: object } = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      // workerd closes the connection after a request whose body the Worker has not read
      headers: { Connection: 'close', Authorization: `Bearer ${key}`, ...init.headers },
    });

  const portsOf = (name: string) =>
    listeningPorts(processTree(service.pid).flatMap((found) => (found.name === name ? [found.pid] : [])));

  test('finds no tools of wrangler on the API’s port', async () => {
    const explorer = '/cdn-cgi/local/explorer';
    const found = await Promise.all([
      get(explorer),
      get(`${explorer}/api/storage/kv/namespaces`),
      get(`${explorer}/api/storage/kv/namespaces/${NAMESPACE}/keys`),
      get(`${explorer}/api/local/observability/query`, '', { method: 'POST', body: '{"query":"select * from spans"}' }),
      get('/cdn-cgi/local/scheduled'),
      get('/cdn-cgi/local/email', '', { method: 'POST' }),
    ]);
    expect(found.map(({ status }) => status)).toEqual(found.map(() => 404));
    // Through this, miniflare itself reaches the KV.
    const headers = { 'MF-Op': 'GET', 'MF-Op-Target': '1', 'MF-Op-Secret': '0'.repeat(32) };
    expect((await get('/cdn-cgi/local/platform-proxy', '', { headers })).status).toBe(401);
  });

  test('cannot make an invented key valid', async () => {
    const key = generateApiKey();
    const account = crypto.randomUUID();
    const entry = { v: 2, keyId: account, accountId: account, email: 'x', expires: null, checked: Date.now() };
    const body = new FormData();
    body.set('value', JSON.stringify(entry));
    body.set('metadata', '{}');
    const path = `/cdn-cgi/local/explorer/api/storage/kv/namespaces/${NAMESPACE}/values/${await hashApiKey(key)}`;
    // In one piece: workerd refuses the request before a body that is sent in several has arrived, which fails with EPIPE.
    const form = new Response(body);
    const headers = { 'Content-Type': form.headers.get('Content-Type') };
    await get(path, '', { method: 'PUT', body: await form.arrayBuffer(), headers });
    expect((await get('/api/v1/surveys', key)).status).toBe(401);
    expect((await get('/api/v1/surveys', service.key)).status).toBe(200);
  });

  test.runIf(isLinux)('finds no inspector or other port that accepts anything without a password', async () => {
    expect(portsOf('workerd')).toEqual([port]);
    expect(portsOf('postgres')).toHaveLength(1);
    const all = listeningPorts(processTree(service.pid).map(({ pid }) => pid));
    const others = all.filter((found) => ![port, ...portsOf('postgres')].includes(found));
    expect(others).toHaveLength(2); // the SQL gateway and miniflare's own
    const headers = {
      'MF-Loopback-Secret': '0'.repeat(64),
      'Neon-Connection-String': 'postgres://postgres:postgres@h.i/postgres',
    };
    const requests = ['GET /', 'GET /json/list', 'GET /core/public-url', 'GET /cdn-cgi/local/explorer', 'POST /sql'];
    for (const request of requests) {
      const [method = '', path = ''] = request.split(' ');
      const responses = others.map((other) => fetch(`http://127.0.0.1:${other}${path}`, { method, headers }));
      const statuses = (await Promise.all(responses)).map(({ status }) => status);
      expect({ request, statuses: statuses.toSorted((a, b) => a - b) }).toEqual({ request, statuses: [400, 403] });
    }
  });

  test.runIf(isLinux)('gains nothing but the Worker’s role, even with the Worker’s DATABASE_URL', async () => {
    const workerd = processTree(service.pid).find(({ name }) => name === 'workerd');
    const databaseUrl = findInMemory(workerd?.pid, /postgresql:\/\/survey_export_worker:[0-9a-f]+@localhost\/\w+/);
    const endpoint = findInMemory(workerd?.pid, /http:\/\/127\.0\.0\.1:\d+\/sql/);
    expect(commandLines().join()).not.toContain(new URL(databaseUrl).password);
    async function run(query: string) {
      const headers = {
        'Neon-Connection-String': databaseUrl,
        'Neon-Raw-Text-Output': 'true',
        'Neon-Array-Mode': 'true',
      };
      const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ query }) });
      return (await response.json()) as { rows?: string[][]; code?: string };
    }
    expect((await run('select current_user')).rows).toEqual([['survey_export_worker']]);
    const queries = [
      'do $$ begin reset role; delete from responses; end $$',
      'do $$ begin reset role; create role intruder superuser; end $$',
      `do $$ begin reset role; perform pg_read_file('PG_VERSION'); end $$`,
      `select set_config('role', 'postgres', false)`,
      'set role postgres',
      'set session authorization postgres',
    ];
    const codes = await Promise.all(queries.map(async (query) => (await run(query)).code));
    expect(codes).toEqual(queries.map(() => '42501'));
  });

  test.runIf(isLinux && isRoot)('cannot read a file of the service', () => {
    const open = processTree(service.pid).flatMap(({ pid }) => openFiles(pid));
    const written = execFileSync('find', [dataDir, '-type', 'f'], { encoding: 'utf8' }).trim().split('\n');
    const files = [...new Set([...written, ...open.filter((path) => path.startsWith(tmpdir()))])];
    expect(files).toContain(join(dataDir, 'demo.json'));
    expect(files.join()).toContain('/kv/v3/kv/');
    const script = 'for path; do cat "$path" >/dev/null 2>&1 && echo "$path"; done; true';
    expect(execFileSync('/bin/sh', ['-c', script, 'sh', ...files], { ...STRANGER, encoding: 'utf8' })).toBe('');
  });

  // The last one, because a start takes seconds.
  test('finds nothing after Ctrl-C, which stops it at once with all that it started', async () => {
    expect(await service.stop('SIGINT')).toMatchObject({ status: 0 }); // status 1 if it missed its deadline
    const processes = () =>
      commandLines().filter((line) => line.includes(dataDir) || line.includes(`=127.0.0.1:${port}`));
    await expect.poll(processes).toEqual([]);
    await expect(get('/healthz')).rejects.toThrow('fetch failed');
  });
});

/** Finds a text of less than 1 KiB in a process's memory. */
function findInMemory(pid: number | undefined, pattern: RegExp): string {
  const bytes = Buffer.alloc(4 * 1024 * 1024);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, start = '', end = ''] = /^(\w+)-(\w+) rw/.exec(line) ?? [];
      for (let at = Number.parseInt(start, 16); at < Number.parseInt(end, 16); at += bytes.length - 1024) {
        const found = pattern.exec(bytes.toString('latin1', 0, readMemory(memory, bytes, at)))?.[0];
        if (found) return found;
      }
    }
  } finally {
    closeSync(memory);
  }
  throw new Error(`there is no ${pattern} in the memory of process ${pid}`);
}

/** @returns the number of bytes, 0 if there is nothing at this address */
function readMemory(memory: number, bytes: Buffer, address: number): number {
  try {
    return readSync(memory, bytes, 0, bytes.length, address);
  } catch {
    return 0;
  }
}
