import { DatabaseError } from '../db/errors.ts';

/**
 * What kind of failure an error is, in words of ours: its own may quote what was read.
 *
 * @returns such as `database: transient` (see db/errors.ts), else the error's name
 */
export function reasonOf(error: unknown): string {
  if (error instanceof DatabaseError) return `database: ${error.kind}`;
  return error instanceof Error ? error.name : typeof error;
}
