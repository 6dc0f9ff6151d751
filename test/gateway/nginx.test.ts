import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import type { LogLine } from '../../gateway/server.ts';
import { spawnKilledWithParent } from '../../tools/kill-with-parent.ts';
import { fetchApi } from '../support/api.ts';
import { copyResponses, createAccount, createBulkSurvey } from '../support/data.ts';
import { query, WORKER_LOGIN } from '../support/database.ts';
import { hasNginx } from '../support/needed-programs.ts';
import { freePort } from '../support/npm-start.ts';
import { newFolder } from '../support/once-per-run.ts';
import { SqlEndpoint } from '../support/sql-endpoint.ts';
import { useStack } from '../support/stack-address.ts';

const LONG = 'select pg_sleep(58)';
/** Of nginx. */
const folder = await newFolder();

/** Creates a certificate that this process and Workers trust. */
async function createCertificate(): Promise<void> {
  const create =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test ' +
    '-addext subjectAltName=IP:127.0.0.1 -keyout privkey.pem -out fullchain.pem';
  execFileSync('openssl', create.split(' '), { cwd: folder, stdio: 'pipe' });
  const certificate = join(folder, 'fullchain.pem');
  setDefaultCACertificates([await readFile(certificate, 'utf8')]);
  // miniflare reads it when it is imported
  process.env['NODE_EXTRA_CA_CERTS'] = certificate;
}

/** Starts nginx with gateway/nginx.conf. @returns the URL of /sql */
async function startNginx(endpoint: string): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const servers = (await readFile(new URL('../../gateway/nginx.conf', import.meta.url), 'utf8'))
    .replace('127.0.0.1:4444', new URL(endpoint).host)
    .replace(/listen \[::\]:443.*/, '')
    .replace('listen 443', `listen ${address}`)
    .replaceAll('/etc/letsencrypt/live/sql.example.org', folder);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder};`,
  );
  const config = join(folder, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; pid ${folder}/pid; events {} http { ${paths.join(' ')} ${servers} }`,
  );
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  spawnKilledWithParent('nginx', ['-e', 'stderr', '-c', config], { stdio, onParentExit: 'QUIT' });
  await expect
    .poll(() => fetch(`https://${address}/healthz`).catch(() => {}))
    .toMatchObject({ status: 200 });
  return `https://${address}/sql`;
}

test.skipIf(!hasNginx)('the Worker works with the gateway behind nginx with TLS', async () => {
  await createCertificate();
  const { startStack } = await import('../support/stack.ts');
  const lines: LogLine[] = [];
  let url = '';
  const startProxy = async (endpoint: string) => (url = await startNginx(endpoint));
  const stack = await startStack({
    startProxy,
    maxResponseBytes: 256 * 1024,
    log: (line) => lines.push(line),
  });
  onTestFinished(() => stack.stop());
  useStack(stack.address);
  const { databaseUrl } = stack.address;

  const survey = await createBulkSurvey(await createAccount(), { rows: 3000, forms: 2 });
  const { key } = survey.account;
  const path = `/responses/csv?survey=${encodeURIComponent(survey.name)}`;
  expect(Buffer.compare((await fetchApi(path, { key })).bytes, await copyResponses(survey))).toBe(
    0,
  );
  // its rows were read again, fewer at a time
  expect(lines.map(({ status }) => status)).toContain(507);
  expect((await fetchApi(path.replace('/csv', ''), { key })).status).toBe(200);

  const login = Object.assign(new URL(databaseUrl), {
    username: WORKER_LOGIN.user,
    password: WORKER_LOGIN.password,
  });
  // A client that disconnects cancels its statement.
  const running = () =>
    query(databaseUrl, `select from pg_stat_activity where query = $1 and state = 'active'`, [
      LONG,
    ]);
  const leaving = new AbortController();
  const left = new SqlEndpoint(url, login.href, '').post({ query: LONG }, {}, leaving.signal);
  await expect.poll(running).toHaveLength(1);
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');
  await expect.poll(running).toEqual([]);
});
