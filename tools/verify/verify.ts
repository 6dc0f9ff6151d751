import { UserError, reasonOf } from '../command.ts';
import { CHECKS } from './checks.ts';
import { Client } from './client.ts';
import { type Result, runChecks } from './run-checks.ts';
import { Subject, type SubjectOptions } from './subject.ts';

export interface VerifyOptions extends Partial<SubjectOptions> {
  /** Writes a line of the report. */
  readonly log?: (line: string) => void;
}

/**
 * Tests a running service.
 *
 * @param origin without a trailing slash
 * @returns the result of each check
 * @throws UserError if the service cannot be reached
 */
export async function verify(
  origin: string,
  { log = () => {}, progress = () => {}, ...options }: VerifyOptions = {},
): Promise<Result[]> {
  const client = new Client(origin, options.key);
  let current = '';
  const begin = (name: string) => progress((current = name));
  const subject = new Subject(client, { ...options, progress: (text) => progress(`${current}: ${text}`) });
  await reach(client, origin);
  return runChecks(CHECKS, subject, { log, begin });
}

async function reach(client: Client, origin: string): Promise<void> {
  const response = await client.send('/healthz', { method: 'HEAD', key: null }).catch((cause: Error) => {
    throw new UserError(`Cannot reach ${origin}: ${reasonOf(cause.cause ?? cause)}`, { cause });
  });
  const location = response.headers.get('Location');
  if (response.status >= 300 && response.status < 400 && location !== null)
    throw new UserError(`${origin} redirects to ${new URL(location, origin).origin}: use that address`);
}
