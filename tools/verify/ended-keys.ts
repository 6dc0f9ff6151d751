import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGunzip } from 'node:zlib';
import { createRecordEnds } from '../../site/shared/csv.ts';
import { suppressUnhandledRejection } from '../../src/unhandled-rejection.ts';
import { reasonOf } from '../command.ts';
import { NotTested, expectEqual, expectThat } from './expect.ts';
import type { IssuedKeys } from './issued-keys.ts';
import { API, type Subject } from './subject.ts';
import { type Transfer, getWithHttp1, getWithHttp2 } from './transports.ts';

/*
 * What a deployment can break when a key expires or is revoked. A key that expires also shows whether clients can tell an aborted
 * transfer from a complete one: https://github.com/cloudflare/workerd/issues/6818 and 7277 report bodies that end cleanly after an
 * error.
 */

/** How long a key works that expires during transfers. */
const SHORT_LIFE_MS = 10_000;
/** When its transfers have been aborted: they check it every 10 s (docs/export.md). */
const ABORTED_MS = SHORT_LIFE_MS + 13_000;
/** Until then, a transfer is read slowly, with a pause after each chunk. It never stops: that could abort it too. */
const PAUSE_MS = 500;
/** How long a new key may be unknown, and how long a revoked one may be accepted (docs/keys.md). */
const UNKNOWN_MS = 60_000;
const REVOCATION_MS = 5 * 60_000;

/** A check of a transfer whose key expires. The first one starts all of them. */
export function checkAbort(how: 'HTTP/1.1' | 'HTTP/2' | 'gzip'): (subject: Subject) => Promise<string> {
  return async (subject) => (await (subject.transfers ??= startTransfers(subject)))[how];
}

export async function startTransfers(subject: Subject) {
  const { name: survey, total } = subject.known('largest');
  const issuedKeys = issuedKeysOf(subject);
  const response = await subject.request(`${API}/key`, { method: 'HEAD' });
  // How far the service's clock is ahead of this machine's, by which the key's expiry is computed.
  const skew = Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0;
  const { key } = await issuedKeys.issue(subject.known('account').email, SHORT_LIFE_MS + skew);
  const url = subject.url(`${API}/responses/csv`, { survey, until: subject.until });
  const read = async (get: typeof getWithHttp1, encoding?: 'gzip') => {
    const headers = { Authorization: `Bearer ${key}`, 'Accept-Encoding': encoding ?? 'identity' };
    const transfer = await get(url, headers);
    expectEqual('status', transfer.status, 200);
    expectEqual('Content-Encoding', transfer.encoding, encoding);
    return readSlowly(transfer, total);
  };
  const transfers = { 'HTTP/1.1': read(getWithHttp1), 'HTTP/2': read(getWithHttp2), gzip: read(getWithHttp1, 'gzip') };
  Object.values(transfers).forEach(suppressUnhandledRejection);
  return transfers;
}

/** @returns how a transfer whose key expires broke off. @throws Error if it ended like a complete one */
async function readSlowly({ encoding, body }: Transfer, total: number): Promise<string> {
  const aborted = performance.now() + ABORTED_MS;
  // Only the transfer shows that it was aborted: many programs accept a gzip file that is cut, or what precedes an error in it.
  const file = encoding === 'gzip' ? createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }) : new PassThrough();
  const endsIn = createRecordEnds();
  let rows = -1; // the first record has the columns
  const isRead = finished(file.on('data', (chunk: Buffer) => (rows += endsIn(chunk).length))).catch(() => {});
  try {
    for await (const chunk of body) {
      file.write(chunk);
      if (performance.now() < aborted) await sleep(PAUSE_MS);
    }
  } catch (error) {
    return `broken off after ${rows} of ${total} responses: ${reasonOf(error)}`;
  }
  file.end();
  await isRead;
  expectThat(rows >= total, `an aborted transfer ended like a complete one, after ${rows} of ${total} responses`);
  throw new NotTested(`needs a larger survey: all ${rows} responses were sent before the key expired`);
}

export async function checkRevocation(subject: Subject): Promise<string> {
  const { revocationMs = REVOCATION_MS, progress } = subject.options;
  const issuedKeys = issuedKeysOf(subject);
  const issued = await issuedKeys.issue(subject.known('account').email, 2 * REVOCATION_MS);
  /** Tries the key until it is accepted or refused. @returns the seconds that it took */
  const waitFor = async (isAccepted: boolean, limitMs: number, event: string) => {
    const request = { method: 'HEAD', key: issued.key, expected: ['200', '401 invalid_token'] };
    for (const since = performance.now(); ; await sleep(1_000)) {
      const sent = performance.now() - since;
      const { ok, status } = await subject.request(`${API}/key`, request);
      const seconds = Math.round(sent / 1_000);
      if (ok === isAccepted) return seconds;
      const message = `HEAD ${API}/key: status ${status} ${seconds} s after the key was ${event}`;
      expectThat(sent <= limitMs, message);
      progress?.(message);
    }
  };
  await waitFor(true, UNKNOWN_MS, 'issued: is DATABASE_URL the database of this service?');
  await issuedKeys.revoke(issued);
  return `after ${await waitFor(false, revocationMs, 'revoked')} s`;
}

function issuedKeysOf(subject: Subject): IssuedKeys {
  subject.known('account');
  const { issuedKeys } = subject.options;
  if (!issuedKeys) throw new NotTested("needs --revocation, and the owner's DATABASE_URL");
  return issuedKeys;
}
