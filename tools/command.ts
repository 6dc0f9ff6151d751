import type { Command } from 'commander';

/** An error for the user: its message is printed without a stack trace. */
export class UserError extends Error {
  override name = 'UserError';
}

/**
 * Runs a command's main function. An error is printed to stderr in one line and sets the exit status to 1. With `DEBUG` set,
 * its stack trace is printed as well.
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
 * The message of an error in one line. A connection that was refused at several addresses (localhost has two) throws an
 * AggregateError without a message: the result is then the first address's message.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

/**
 * A `preAction` hook that makes options mandatory. Commander's `requiredOption` is checked before unknown options, so that it
 * would report `--emial` as a missing `--email`.
 */
export function needs(...names: readonly string[]): (program: Command, command: Command) => void {
  return (_, command) => {
    const missing = command.options.find(
      (option) => names.includes(option.long ?? '') && command.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing) command.error(`error: required option '${missing.flags}' not specified`);
  };
}
