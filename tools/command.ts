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
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${text || 'failed'}\n`);
    if (process.env['DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  }
}
