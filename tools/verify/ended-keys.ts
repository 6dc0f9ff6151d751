import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, get as getHttp } from 'node:http';
import { type IncomingHttpHeaders, connect, constants as http2 } from 'node:http2';
import { get as getHttps } from 'node:https';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGunzip } from 'node:zlib';
import { createRecordEnds } from '../../site/shared/csv.ts';
import { suppressUnhandledRejection } from '../../src/unhandled-rejection.ts';
import { messageOf } from '../command.ts';
import type { IssuedKey } from '../keys/issue.ts';
import { API, NotTested, type Subject, expectEqual } from './subject.ts';

/** How long a key works that expires during transfers. */
const SHORT_LIFE_MS = 10_000;
/**
 * After this time its transfers have been aborted: they check the key every 10 s (docs/export.md).
 */
const ABORTED_MS = SHORT_LIFE_MS + 13_000;
/**
 * Until then, a transfer is read slowly, with a pause after each chunk. It never stops: that could
 * abort it too.
 */
const PAUSE_MS = 500;
/** How long a new key may be unknown, and how long a revoked one may be accepted (docs/keys.md). */
const UNKNOWN_MS = 60_000;
const REVOCATION_MS = 5 * 60_000;

/**
 * Whether clients can tell an aborted transfer from a complete one:
 * https://github.com/cloudflare/workerd/issues/6818 and 7277 report bodies that end cleanly after
 * an error. The first check starts all transfers.
 */
export const checkAbort = (how: 'HTTP/1.1' | 'HTTP/2' | 'gzip') => async (subject: Subject) =>
  (await (subject.transfers ??= startTransfers(subject)))[how];

async function startTransfers(subject: Subject) {
  const { name: survey, total } = subject.known('largest');
  const response = await subject.request(`${API}/key`, { method: 'HEAD' });
  // How far the service's clock is ahead of this machine's, which sets the key's expiry.
  const skew = Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0;
  const { key } = await issueKey(subject, SHORT_LIFE_MS + skew);
  const url = subject.url(`${API}/responses/csv`, { survey, until: subject.until });
  const read = async (get: typeof getWithHttp1 | typeof getWithHttp2, encoding?: 'gzip') => {
    const transfer = await get(url, {
      Authorization: `Bearer ${key}`,
      'Accept-Encoding': encoding ?? 'identity',
    });

    expectEqual(
      'status and Content-Encoding',
      [transfer.status, transfer.encoding],
      [200, encoding],
    );

    return readSlowly(transfer, total);
  };

  const transfers = {
    'HTTP/1.1': read(getWithHttp1),
    'HTTP/2': read(getWithHttp2),
    gzip: read(getWithHttp1, 'gzip'),
  };

  Object.values(transfers).forEach(suppressUnhandledRejection);
  return transfers;
}

/**
 * Reads a transfer until its key has expired. @returns how it broke off. @throws Error if it ended
 * like a complete one
 */
async function readSlowly({ encoding, body }: Transfer, total: number): Promise<string> {
  const aborted = performance.now() + ABORTED_MS;
  // Only the transfer shows that it was aborted: many programs accept a gzip file that is cut, or
  // what precedes an error in it.
  const file =
    encoding === 'gzip' ? createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }) : new PassThrough();
  const endsIn = createRecordEnds();
  let rows = -1; // the first record has the columns
  const isRead = finished(file.on('data', (chunk: Buffer) => (rows += endsIn(chunk).length))).catch(
    () => {},
  );

  try {
    for await (const chunk of body) {
      file.write(chunk);
      if (performance.now() < aborted) await sleep(PAUSE_MS);
    }
  } catch (error) {
    return `broken off after ${rows} of ${total} responses: ${messageOf(error)}`;
  }

  file.end();
  await isRead;
  assert(
    rows >= total,
    `an aborted transfer ended like a complete one, after ${rows} of ${total} responses`,
  );

  throw new NotTested(
    `needs a larger survey: all ${rows} responses were sent before the key expired`,
  );
}

/**
 * A response whose body is arriving, not decompressed. Reading it throws if the transfer breaks
 * off.
 */
type Transfer = Awaited<ReturnType<typeof getWithHttp1 | typeof getWithHttp2>>;

/**
 * `fetch` is not used: over HTTP/2, it ends a transfer that is cancelled (RST_STREAM with CANCEL)
 * like a complete one.
 */
async function getWithHttp1(url: URL, headers: Record<string, string>) {
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  const [body] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  return { status: body.statusCode, encoding: body.headers['content-encoding'], body };
}

/** @throws NotTested if the service does not speak HTTP/2 */
async function getWithHttp2(url: URL, headers: Record<string, string>) {
  const session = connect(url.origin);
  session.on('error', () => {}); // the stream reports it too
  const stream = session.request({ ':path': url.pathname + url.search, ...headers });
  const closed = once(stream, 'close').finally(() => session.destroy());
  const [head] = (await Promise.race([once(stream, 'response'), closed]).catch(() => [])) as [
    IncomingHttpHeaders?,
  ];

  if (!head) throw new NotTested('the service does not speak HTTP/2');
  async function* body(): AsyncGenerator<Uint8Array, void, void> {
    yield* stream as AsyncIterable<Uint8Array>;
    // Node.js ends a stream without an error after some codes.
    if (stream.rstCode !== http2.NGHTTP2_NO_ERROR)
      throw new Error(`RST_STREAM with code ${stream.rstCode}`);
  }

  return { status: Number(head[':status']), encoding: head['content-encoding'], body: body() };
}

export async function checkRevocation(subject: Subject): Promise<string> {
  const { revocationMs = REVOCATION_MS, issuedKeys, progress } = subject.options;
  const issued = await issueKey(subject, 2 * REVOCATION_MS);
  /** Tries the key until it is accepted or refused. @returns the seconds that it took */
  const waitFor = async (isAccepted: boolean, limitMs: number, event: string) => {
    const request = { method: 'HEAD', key: issued.key, expected: ['200', '401 invalid_token'] };
    for (const since = performance.now(); ; await sleep(1_000)) {
      const seconds = Math.round((performance.now() - since) / 1_000);
      const { ok, status } = await subject.request(`${API}/key`, request);
      if (ok === isAccepted) return seconds;
      const message = `HEAD ${API}/key: status ${status} ${seconds} s after the key was ${event}`;
      assert(1_000 * seconds <= limitMs, message);
      progress?.(message);
    }
  };

  await waitFor(true, UNKNOWN_MS, 'issued: is DATABASE_URL the database of this service?');
  await issuedKeys?.revoke(issued);
  return `after ${await waitFor(false, revocationMs, 'revoked')} s`;
}

async function issueKey(subject: Subject, expiresInMs: number): Promise<IssuedKey> {
  const { key } = subject.known('account');
  const { issuedKeys } = subject.options;
  if (!issuedKeys) throw new NotTested("needs --revocation, and the owner's DATABASE_URL");
  return issuedKeys.issueLike(key, expiresInMs);
}
