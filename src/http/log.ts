import { DatabaseError } from '../db/errors.ts';

type Details = Readonly<Record<string, unknown>>;

/**
 * Logs a failure of a request as one line of JSON: the error's message, and its stack unless the
 * database was unavailable. Every request fails then, and no stack explains why.
 */
export function logFailure(event: string, requestId: string, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const hasStack =
    !(error instanceof DatabaseError) || error.kind === 'defect' || error.kind === 'too-large';

  console.error(line(event, { requestId, error: message, ...(hasStack && { stack }) }));
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
 * API keys, their hashes (also truncated, to 33 digits or more) and connection strings.
 * Cloudflare's ids, of 32 digits, stay readable.
 */
const SECRETS = /sresl?_\w{5,}|[0-9a-f]{33,}|postgres(?:ql)?:\/\/[^\s"\\]+/gi;

/**
 * The text with `…` in place of secrets, which must never be logged or printed, even if an error
 * quotes them.
 */
export const withoutSecrets = (text: string): string => text.replaceAll(SECRETS, '…');

const line = (event: string, details: Details) =>
  withoutSecrets(JSON.stringify({ event, ...details }));
