// npm run gateway: Neon's SQL over HTTP in front of one Postgres database. See docs/deploy.md.
import { Client } from 'pg';
import { startGateway } from './server.ts';

const HELP = `Usage: npm run gateway

Serves one Postgres database as Neon's SQL over HTTP.

Environment variables:
  GATEWAY_DATABASE     postgresql://host:port/database?sslmode=verify-full, without user and password
  GATEWAY_TOKEN        "Authorization: Bearer <token>" of all requests: 32 or more random characters ("openssl rand -hex 32")
  GATEWAY_LISTEN       address:port of HTTP without TLS (default: 127.0.0.1:4444)
  GATEWAY_WITHOUT_TLS  "yes" allows an address other than loopback
  GATEWAY_CONNECTIONS  the most connections to Postgres (default: 20)

On SIGTERM or Ctrl-C, running requests are completed; on a second, they are not.
`;

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|localhost|\[?::1\]?|\/.*)$/;

/** Reads the settings. @throws Error that names all that are wrong */
function settings(env: NodeJS.ProcessEnv) {
  const { GATEWAY_DATABASE: database = '', GATEWAY_TOKEN: token = '' } = env;
  const url = URL.parse(database);
  const [, host = '', port = ''] =
    /^(.+):(\d{1,5})$/.exec(env['GATEWAY_LISTEN'] || '127.0.0.1:4444') ?? [];
  const connections = Number(env['GATEWAY_CONNECTIONS'] || 20);
  const problems: string[] = [];
  if (
    !url ||
    !/^postgres(?:ql)?:$/.test(url.protocol) ||
    url.username ||
    url.password ||
    url.pathname.length < 2
  )
    problems.push(
      'GATEWAY_DATABASE must be postgresql://host:port/database, without user and password',
    );
  else {
    // never connected: it knows whether there is TLS
    const postgres = new Client({ connectionString: database });
    if (
      !postgres.ssl &&
      !LOOPBACK.test(postgres.host) &&
      url.searchParams.get('sslmode') !== 'disable'
    )
      problems.push(
        'GATEWAY_DATABASE needs sslmode=verify-full, or sslmode=disable in a network that you trust',
      );
  }

  if (!/^[!-~]{32,}$/.test(token))
    problems.push('GATEWAY_TOKEN must have at least 32 characters of ASCII, and no spaces');
  if (!host || Number(port) > 65_535)
    problems.push('GATEWAY_LISTEN must be an address and a port, as 127.0.0.1:4444');
  else if (!LOOPBACK.test(host) && env['GATEWAY_WITHOUT_TLS'] !== 'yes')
    problems.push(
      'GATEWAY_LISTEN is not loopback: passwords need TLS. Set GATEWAY_WITHOUT_TLS=yes to do without',
    );
  if (!Number.isInteger(connections) || connections < 1)
    problems.push('GATEWAY_CONNECTIONS must be an integer from 1');
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return { database, token, connections, host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

async function run(): Promise<void> {
  const gateway = await startGateway({
    ...settings(process.env),
    log: (line) =>
      process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`),
  });

  process.stderr.write(`Listening: ${gateway.url}\n`);
  let now = false;
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      void gateway.close({ now });
      now = true;
    });
}

if (process.argv.length > 2) process.stdout.write(HELP);
else
  await run().catch(({ message }: Error) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  });
