import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const ACCOUNT = '0123456789abcdef0123456789abcdef';

/** A successful response. */
export const succeed = (result: object) => ({
  status: 200,
  body: { success: true, errors: [], messages: [], result },
});
/** An error. */
export const fail = (status: number, code: number, message: string) => ({
  status,
  body: { success: false, errors: [{ code, message }], messages: [], result: null },
});

/**
 * Starts a fake of Cloudflare's API.
 *
 * @param respond computes a response from the request's path and body; with undefined, there is
 * none
 */
export async function startCloudflare(
  respond: (path: string, body: string) => { status: number; body: object } | undefined,
) {
  /** The requests, such as `GET /client/v4/accounts`, with their bodies. */
  const calls: string[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const body = await text(request);
    calls.push(`${request.method} ${path} ${body}`.trimEnd());
    const result = respond(path, body);
    if (!result) return;
    response
      .writeHead(result.status, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(result.body));
  };

  const server = createServer((request, response) => void handle(request, response)).listen(
    0,
    '127.0.0.1',
  );

  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    env: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
      CLOUDFLARE_API_TOKEN: 'token',
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
    },
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
