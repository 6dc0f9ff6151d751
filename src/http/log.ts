import { DatabaseError } from '../db/errors.ts';
import { withoutSecrets } from './secrets.ts';

type Details = Readonly<Record<string, unknown>>;

/** Logs a failure as one line of JSON. */
export function logFailure(event: string, details: Details): void {
  console.error(line(event, details));
}

/** Logs a request as one line of JSON: see docs/operations.md. */
export function logRequest(details: Details): void {
  console.log(line('request', details));
}

/**
 * The kind of an error, without its message, which may quote data.
 *
 * @returns for example `database: transient` (see db/errors.ts), otherwise the error's name
 */
export function reasonOf(error: unknown): string {
  if (error instanceof DatabaseError) return `database: ${error.kind}`;
  return error instanceof Error ? error.name : typeof error;
}

/**
 * What to log of an error: its message, and the stack of a defect. If the database cannot be reached, every request fails, and no
 * stack explains why.
 */
export function detailsOf(error: unknown): Details {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const isDefect = !(error instanceof DatabaseError) || error.kind === 'defect' || error.kind === 'too-large';
  return isDefect ? { error: message, stack } : { error: message };
}

const line = (event: string, details: Details) => withoutSecrets(JSON.stringify({ event, ...details }));
