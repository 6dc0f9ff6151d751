/** An error whose message is meant for the person at the terminal: it is printed alone, without a stack. */
export class UserError extends Error {
  override name = 'UserError';
}

/**
 * Runs a command-line tool's main function. A failure goes to stderr in one line and the exit status becomes 1; the
 * stack trace is shown only for what is not a {@link UserError}, and only with `DEBUG` set.
 */
export async function runCommand(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    if (process.env['DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  }
}

/**
 * The reason of a failure in one line. A connection refused at several addresses (localhost has two) is an AggregateError
 * with an empty message: its reason is the first address's.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
