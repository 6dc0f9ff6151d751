import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGunzip } from 'node:zlib';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createRecordEnds } from '../../site/shared/csv.ts';
import { suppressUnhandledRejection } from '../../src/unhandled-rejection.ts';
import { reasonOf } from '../command.ts';
import { NotTested, expectEqual, expectThat } from './expect.ts';
import type { IssuedKeys } from './issued-keys.ts';
import { API, type Subject } from './subject.ts';
import { type Transport, TRANSPORTS } from './transports.ts';

/*
 * What a deployment can break when a key expires or is revoked. A key that expires also shows whether clients can tell an aborted
 * transfer from a complete one: https://github.com/cloudflare/workerd/issues/6818 and 7277 report bodies that end cleanly after an
 * error.
 */

const SECOND = 1_000;
/** How long a key works that expires during transfers. */
const SHORT_LIFE_MS = 10 * SECOND;
/** When its transfers have been aborted: they check it every 10 s (docs/export.md). */
const ABORTED_MS = SHORT_LIFE_MS + 13 * SECOND;
/** Until then, a transfer is read slowly, with a pause after each chunk. It never stops: that could abort it too. */
const PAUSE_MS = SECOND / 2;
/** How long a new key may be unknown, and how long a revoked one may be accepted (docs/keys.md). */
const UNKNOWN_MS = 60 * SECOND;
const REVOCATION_MS = 5 * 60 * SECOND;

type How = Transport | 'gzip';

/** A check of a transfer whose key expires. The first one starts all of them. */
export function checkAbort(how: How): (subject: Subject) => Promise<string> {
  return async (subject) => (await (subject.transfers ??= startTransfers(subject)))[how];
}

export async function startTransfers(subject: Subject): Promise<Record<How, Promise<string>>> {
  subject.known('largest');
  const issuedKeys = issuedKeysOf(subject);
  const probe = await subject.send('/key');
  await probe.text();
  // How far the service's clock is ahead of this machine's, by which the key's expiry is computed.
  const skew = Date.parse(probe.headers.get('Date') ?? '') - Date.now() || 0;
  const { key } = await issuedKeys.issue(subject.known('email'), SHORT_LIFE_MS + skew);
  const aborted = performance.now() + ABORTED_MS;
  subject.options.progress('reading slowly until its key has expired');
  const start = (transport: Transport, encoding: string) =>
    suppressUnhandledRejection(readTransfer(subject, key, { transport, encoding, aborted }));
  return {
    'HTTP/1.1': start('HTTP/1.1', 'identity'),
    'HTTP/2': start('HTTP/2', 'identity'),
    gzip: start('HTTP/1.1', 'gzip'),
  };
}

/**
 * Reads a file whose key expires.
 *
 * @param how `aborted`: when it has been aborted, and the rest is read
 * @returns how it broke off
 * @throws Mismatch if it ended like a complete one
 * @throws NotTested if it was complete
 */
async function readTransfer(
  subject: Subject,
  key: string,
  { transport, encoding, aborted }: { transport: Transport; encoding: string; aborted: number },
): Promise<string> {
  const { name: survey, total } = subject.known('largest');
  const url = subject.url(`${API}/responses/csv`, { survey, until: subject.until });
  const headers = { Authorization: `Bearer ${key}`, 'Accept-Encoding': encoding };
  const { status, isZipped, body } = await TRANSPORTS[transport](url, headers);
  expectEqual('status', status, 200);
  expectEqual('whether it is compressed', isZipped, encoding === 'gzip');
  // Only the transfer shows that it was aborted: many programs accept a gzip file that is cut, or what precedes an error in it.
  const file = isZipped ? createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }) : new PassThrough();
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
  const issued = await issuedKeys.issue(subject.known('email'), 2 * REVOCATION_MS);
  /** Tries the key until it is accepted or refused. @returns the seconds that it took */
  const waitFor = async (expected: number, limitMs: number, event: string) => {
    for (const since = performance.now(); ; await sleep(SECOND)) {
      const sent = performance.now() - since;
      const { status } = await subject.request(`${API}/key`, { method: 'HEAD', key: issued.key });
      const seconds = Math.round(sent / SECOND);
      if (status === expected) return seconds;
      const message = `HEAD ${API}/key: status ${status} ${seconds} s after the key was ${event}`;
      expectThat(sent <= limitMs, message);
      progress(message);
    }
  };
  await waitFor(200, UNKNOWN_MS, 'issued: is DATABASE_URL the database of this service?');
  await issuedKeys.revoke(issued);
  return `after ${await waitFor(401, revocationMs, 'revoked')} s`;
}

function issuedKeysOf(subject: Subject): IssuedKeys {
  subject.known('email');
  const { issuedKeys } = subject.options;
  if (!issuedKeys) throw new NotTested("needs --revocation, and the owner's DATABASE_URL");
  return issuedKeys;
}
