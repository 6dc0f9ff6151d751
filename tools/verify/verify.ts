import { UserError, reasonOf } from '../command.ts';
import { Client } from './client.ts';
import { CHECKS } from './checks.ts';
import { type Result, runChecks } from './run-checks.ts';
import { Subject } from './subject.ts';

export interface VerifyOptions {
  /** Undefined to test only what needs no key. */
  readonly key?: string | undefined;
  /** Undefined to choose one. */
  readonly surveyName?: string | undefined;
  /** Writes a line of the report. */
  readonly log?: (line: string) => void;
  /** Called when a check begins, and often while it reads a file. */
  readonly progress?: (text: string) => void;
}

/**
 * The origin of a service's address, with or without `/api/v1`.
 *
 * @throws UserError if it is not an http or https URL
 */
export function originOf(url: string): string {
  const { protocol, origin, pathname } = URL.parse(url) ?? {};
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new UserError('--url: not an address such as https://export.example.org');
  if (!/^\/*(?:api\/v1\/*)?$/.test(pathname ?? ''))
    throw new UserError(`--url: expected the address of the service alone, ${origin}`);
  return origin as string;
}

/**
 * Tests a running service.
 *
 * @param origin without a trailing slash
 * @returns the result of each check, and a sentence about the times from requests to response headers
 * @throws UserError if the service cannot be reached
 */
export async function verify(
  origin: string,
  { key, surveyName, log = () => {}, progress = () => {} }: VerifyOptions,
): Promise<{ results: Result[]; roundTrips: string }> {
  using client = new Client(origin, key);
  await reach(client, origin);
  let current = '';
  const begin = (name: string) => progress((current = name));
  const reading = (text: string) => progress(`${current}: ${text}`);
  const subject = new Subject(client, { hasKey: key !== undefined, surveyName, progress: reading });
  const results = await runChecks(CHECKS, subject, { log, begin });
  return { results, roundTrips: describeTimes(client.roundTrips) };
}

/** Connects, so that later times do not include it. */
async function reach(client: Client, origin: string): Promise<void> {
  const reply = await client.get('/healthz', { key: null }).catch((cause: unknown) => {
    throw new UserError(`Cannot reach ${origin}: ${reasonOf(cause)}`, { cause });
  });
  const location = reply.header('Location');
  if (reply.status >= 300 && reply.status < 400 && location !== undefined)
    throw new UserError(`${origin} redirects to ${new URL(location, origin).origin}: use that address`);
}

function describeTimes(roundTrips: readonly number[]): string {
  const sorted = roundTrips.toSorted((a, b) => a - b);
  const at = (share: number) => `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)} ms`;
  return `${sorted.length} requests; from request to response headers ${at(0.5)} at the median, ${at(1)} at most.`;
}
