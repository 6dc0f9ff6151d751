import { setTimeout as sleep } from 'node:timers/promises';
import { suppressUnhandledRejection } from '../../src/unhandled-rejection.ts';
import { API, BrokenTransfer, type RequestOptions, bodyOf } from './client.ts';
import { NotTested, expectThat } from './expect.ts';
import { recordsOf } from './records.ts';
import type { Subject } from './subject.ts';
import type { Transport } from './transports.ts';

/*
 * What a deployment can break when a key is revoked. Its transfers also show whether clients can tell an aborted transfer from a
 * complete one: https://github.com/cloudflare/workerd/issues/6818 and 7277 report bodies that end cleanly after an error.
 */

const SECOND = 1_000;
/** How long a new key may be unknown, and how long a revoked one may be accepted (docs/keys.md). */
const UNKNOWN_MS = 60 * SECOND;
const REVOCATION_MS = 5 * 60 * SECOND;
/** When transfers are read on after that: a transfer checks its key every 10 s (docs/export.md). */
const NOTICED_MS = 13 * SECOND;

type How = Transport | 'gzip';

/** Files whose first records were read. */
export type Transfers = Record<How, Promise<AsyncGenerator<string, void, void>>>;

/** Issues a key, begins transfers with it, and revokes it while they are running. */
export async function checkRevocation(subject: Subject): Promise<string> {
  const email = subject.known('email');
  const { issuedKeys, revocationMs = REVOCATION_MS, progress } = subject.options;
  if (!issuedKeys) throw new NotTested("needs --revocation, and the owner's DATABASE_URL");
  const issued = await issuedKeys.issue(email, 4 * REVOCATION_MS);
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
  if (subject.largest) subject.transfers = beginTransfers(subject, issued.key);
  await Promise.allSettled(Object.values(subject.transfers ?? {}));
  await issuedKeys.revoke(issued);
  try {
    return `after ${await waitFor(401, revocationMs, 'revoked')} s`;
  } finally {
    subject.readOnAt = performance.now() + NOTICED_MS;
  }
}

function beginTransfers(subject: Subject, key: string): Transfers {
  const { name: survey } = subject.known('largest');
  const begin = async (transport: Transport, encoding: string) => {
    const options: RequestOptions = { key, transport, headers: { 'Accept-Encoding': encoding } };
    const response = await subject.send('/responses/csv', { ...options, query: { survey, until: subject.until } });
    const records = recordsOf(bodyOf(response));
    await records.next(); // the columns: the transfer is running
    return records;
  };
  return {
    'HTTP/1.1': suppressUnhandledRejection(begin('HTTP/1.1', 'identity')),
    'HTTP/2': suppressUnhandledRejection(begin('HTTP/2', 'identity')),
    gzip: suppressUnhandledRejection(begin('HTTP/1.1', 'gzip')),
  };
}

/** A check that a transfer of {@link checkRevocation} breaks off. */
export function checkAbort(how: How): (subject: Subject) => Promise<string> {
  return async (subject) => {
    const records = await subject.known('transfers')[how];
    const { total } = subject.known('largest');
    await sleep(Math.max(0, subject.readOnAt - performance.now()));
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
    throw new NotTested(`needs a larger survey: all ${rows} responses were sent before the key was refused`);
  };
}
