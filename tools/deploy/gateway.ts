import { Client } from 'pg';
import { connectionString } from '../../gateway/request.ts';
import { endpointOf } from '../../src/db/endpoint.ts';
import { messageOf } from '../command.ts';
import { postgresUrl } from '../database.ts';
import { printable } from '../keys/printable.ts';

const TIMEOUT_MS = 15_000;
const MAX_LENGTH = 200;
const ADVICE = '(see "503" in docs/runbook.md)';

/**
 * Checks that a gateway reaches Postgres, accepts the Worker's headers, and serves its database.
 * Sends neither SQL nor a password.
 *
 * @param headersJson the Worker's SQL_ENDPOINT_HEADERS
 * @param databaseUrl `postgres://` URL with the host, port and database of the Worker's; without
 * it, they are not checked
 * @throws UserError for an invalid `databaseUrl`
 */
export async function gatewayProblems(
  endpoint: string,
  headersJson: string,
  databaseUrl = '',
): Promise<string[]> {
  const { href } = postgresUrl(databaseUrl || 'postgres://localhost/unknown');
  const url = connectionString(new Client({ connectionString: href }), {
    user: 'nobody',
    password: 'nothing',
  });

  // The second is refused because Postgres does not know its user, or because it has no body, but
  // only after its token and its connection string.
  const refused = /^400 (?:password authentication failed|could not parse the HTTP request body)/;
  const requests = [
    ['GET', new URL('healthz', endpoint).href, /^200 /],
    ['POST', endpoint, databaseUrl ? refused : /^400 /],
  ] as const;
  try {
    const worker = endpointOf({
      DATABASE_URL: url,
      SQL_ENDPOINT: endpoint,
      SQL_ENDPOINT_HEADERS: headersJson,
    });

    const headers = { ...worker.headers, 'Neon-Connection-String': url };
    for (const [method, target, expected] of requests) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await fetch(target, { method, headers, redirect: 'manual', signal });
      const message = (await response.text())
        .replace(/^.*"message":"(.*)"\}$|^\s*<.*$/s, '$1')
        .replaceAll('\\"', '"');
      const found = `${response.status} ${printable(message).slice(0, MAX_LENGTH)}`;
      const hint = /^(?:3..|401|403) /.test(found) ? '; SQL_ENDPOINT_HEADERS are not accepted' : '';
      if (!expected.test(found))
        return [
          `The gateway responds to ${method} ${target} with ${found.trimEnd()}${hint} ${ADVICE}`,
        ];
    }

    return [];
  } catch (error) {
    const { cause = error } = error as Error; // the reason of an error of fetch
    return [`The gateway ${endpoint} cannot be used: ${messageOf(cause)} ${ADVICE}`];
  }
}
