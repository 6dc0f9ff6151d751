import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { query } from './database.ts';
import type { TestPostgres } from './postgres.ts';

/** Neon's words: https://github.com/logto-io/logto/issues/4535 */
export const EMPTY_PASSWORD =
  'Received HTTP code 400 from control plane: {"error":"Neon does not support roles with empty passwords"}';
export const HASHED_PASSWORD = 'Neon does not support hashed passwords';

/** Run in the transaction, before it is committed. */
const CHECK = 'do $neon$ begin perform neon.check_roles(); end $neon$';

/**
 * Starts a proxy in front of a Postgres server that fails a transaction that leaves a role without a password, or gives one a
 * hashed password. Neon does this in a hook of the server, which sends changed roles to its control plane before the commit:
 * https://github.com/neondatabase/neon/blob/main/pgxn/neon/neon_ddl_handler.c (An event trigger is not called for roles.)
 */
export async function startNeonRoles(server: TestPostgres) {
  await query(server.url, `create role neon_owner login createrole createdb password 'owner'`);
  await query(server.url, 'create database neondb owner neon_owner');
  const upstream = Object.assign(new URL(server.url), { pathname: '/neondb' });
  await query(
    upstream.href,
    `create schema neon;
     grant usage on schema neon to public;
     create function neon.check_roles() returns void language plpgsql security definer as $$
     begin
       if exists (select from pg_authid where rolpassword is null and rolname not like 'pg\\_%') then
         raise exception '%', '${EMPTY_PASSWORD}';
       end if;
     end $$`,
  );
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const database = connect(Number(upstream.port), upstream.hostname);
    for (const [from, to] of [[client, database] as const, [database, client] as const]) {
      sockets.add(from);
      from.on('error', () => {}).on('close', () => to.destroy());
    }
    const rewrite = createRewrite();
    client.on('data', (chunk) => database.write(rewrite(chunk)));
    database.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    /** `postgres://` URL of the database's owner, who may create roles but is not a superuser. */
    url: `postgres://neon_owner:owner@127.0.0.1:${port}/neondb`,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/**
 * Rewrites what one client sends: https://www.postgresql.org/docs/current/protocol-message-formats.html. A client sends the next
 * statement after the result of the last, so a simple query arrives alone. Statements about roles take no parameters.
 */
function createRewrite(): (message: Buffer) => Buffer {
  let isInTransaction = false;
  const checked = (sql: string): string => {
    if (/password\s+'(?:SCRAM-SHA-256\$|md5[0-9a-f]{32}')/i.test(sql))
      return `do $neon$ begin raise exception '%', '${HASHED_PASSWORD}'; end $neon$`;
    if (/^(?:begin|commit|rollback)$/i.test(sql)) isInTransaction = /^begin$/i.test(sql);
    if (/^commit$/i.test(sql)) return `${CHECK}; ${sql}`;
    return !isInTransaction && /\brole\b/i.test(sql) ? `${sql}; ${CHECK}` : sql;
  };
  return (message) => {
    const isQuery = message[0] === 'Q'.charCodeAt(0) && message.readInt32BE(1) === message.length - 1;
    if (!isQuery) return message;
    const text = Buffer.from(`${checked(message.toString('utf8', 5, message.length - 1))}\0`);
    const head = Buffer.alloc(5, 'Q');
    head.writeInt32BE(text.length + 4, 1);
    return Buffer.concat([head, text]);
  };
}
