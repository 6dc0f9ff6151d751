import { connect } from 'node:net';
import type { Answer } from '../support/api.ts';
import { origin } from '../support/api.ts';

/**
 * Sends bytes as they are, where fetch would refuse or repair them, and reads until the service closes.
 *
 * @returns undefined when what came is no HTTP answer
 */
export async function sendRaw(bytes: Buffer): Promise<Answer | undefined> {
  const { hostname, port } = new URL(origin());
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(4_000, () => socket.destroy(new Error('no answer within 4 seconds')));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve());
    // A refused request may leave bytes unread, which resets the connection behind the answer.
    socket.on('error', (error) => (chunks.length > 0 ? resolve() : reject(error)));
  });
  return parse(Buffer.concat(chunks));
}

function parse(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1];
  if (end < 0 || status === undefined) return undefined;
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  const rest = bytes.subarray(end + 4);
  const body = headers.get('Transfer-Encoding') === 'chunked' ? dechunk(rest) : rest;
  return { status: Number(status), headers, bytes: body, text: body.toString('utf8') };
}

function dechunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16);
    if (end < 0 || !(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
