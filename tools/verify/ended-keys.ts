import { setTimeout as sleep } from 'node:timers/promises';
import { suppressUnhandledRejection } from '../../src/unhandled-rejection.ts';
import { API, BrokenTransfer, type RequestOptions, bodyOf } from './client.ts';
import { NotTested, expectThat } from './expect.ts';
import type { IssuedKeys } from './issued-keys.ts';
import { recordsOf } from './records.ts';
import type { Subject } from './subject.ts';
import type { Transport } from './transports.ts';

/*
 * What a deployment can break when a key expires or is revoked. A key that expires also shows whether clients can tell an aborted transfer from a
 * complete one: https://github.com/cloudflare/workerd/issues/6818 and 7277 report bodies that end cleanly after an error.
 */

const SECOND = 1_000;
/** How long a key works that expires during a transfer. */
const SHORT_LIFE_MS = 10 * SECOND;
/** When its transfer is read on: a transfer checks its key every 10 s (docs/export.md). */
const READ_ON_MS = SHORT_LIFE_MS + 13 * SECOND;
/** How long a new key may be unknown, and how long a revoked one may be accepted (docs/keys.md). */
const UNKNOWN_MS = 60 * SECOND;
const REVOCATION_MS = 5 * 60 * SECOND;

/** A check of a transfer whose key expires. The first one starts all of them. */
export function checkAbort(how: Transport | 'gzip'): (subject: Subject) => Promise<string> {
  return async (subject) => (await (subject.aborts ??= startAborts(subject)))[how];
}

export async function startAborts(subject: Subject): Promise<Record<Transport | 'gzip', Promise<string>>> {
  subject.known('largest');
  const issuedKeys = issuedKeysOf(subject);
  const probe = await subject.send('/key');
  await probe.json();
  // How far the service's clock is ahead of this machine's, by which the key's expiry is computed.
  const skew = Date.parse(probe.headers.get('Date') ?? '') - Date.now() || 0;
  const { key } = await issuedKeys.issue(subject.known('email'), SHORT_LIFE_MS + skew);
  const readOn = performance.now() + READ_ON_MS;
  subject.options.progress(`waiting ${READ_ON_MS / SECOND} s for its key to expire`);
  const start = (options: RequestOptions) =>
    suppressUnhandledRejection(abortTransfer(subject, { key, ...options }, readOn));
  const plain = { 'Accept-Encoding': 'identity' };
  return {
    'HTTP/1.1': start({ headers: plain, transport: 'HTTP/1.1' }),
    'HTTP/2': start({ headers: plain, transport: 'HTTP/2' }),
    gzip: start({ headers: { 'Accept-Encoding': 'gzip' }, transport: 'HTTP/1.1' }),
  };
}

/**
 * Reads a file to its end, with a pause after its first bytes.
 *
 * @param readOn when the pause ends
 * @throws Mismatch if the transfer ends like a complete one
 * @throws NotTested if all of the file was sent before the key expired
 */
async function abortTransfer(subject: Subject, options: RequestOptions, readOn: number): Promise<string> {
  const { name: survey, total } = subject.known('largest');
  const query = { survey, until: subject.until };
  const records = recordsOf(bodyOf(await subject.send('/responses/csv', { ...options, query })));
  await records.next(); // the columns: the transfer is running
  await sleep(readOn - performance.now());
  let rows = 0;
  try {
    for await (const _ of records) rows++;
  } catch (error) {
    if (error instanceof BrokenTransfer) return `broken off after ${rows} of ${total} responses`;
    // Otherwise the file ends within a record, but the transfer does not break off.
  }
  expectThat(
    rows >= total,
    `a transfer that was aborted ended like a complete one, after ${rows} of ${total} responses`,
  );
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
      const { status } = await subject.client.send(`${API}/key`, { method: 'HEAD', key: issued.key });
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
