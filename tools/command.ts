import { Command } from 'commander';

/** An error for the user: its message is printed without a stack trace. */
export class UserError extends Error {
  override name = 'UserError';
}

/** Writes a line of the result to stdout. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes a line to stderr, since stdout may be piped. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Runs a command's main function. An error is printed to stderr in one line and sets the exit
 * status to 1. With `DEBUG` set, its stack trace is printed as well.
 */
export async function runCommand(main: () => Promise<unknown>): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exitCode = 1;
    // EPIPE: the reader has seen enough, as "head" has after some lines.
    if (error.code !== 'EPIPE') note(`Cannot write to stdout: ${messageOf(error)}`);
  });

  try {
    // npm reads options that precede "--", and passes none of them on.
    if (process.env['npm_config_dry_run'] === 'true')
      throw new UserError(
        'npm took --dry-run for itself: put it after "--", as in "npm run db:import -- --dry-run"',
      );
    await main();
  } catch (error) {
    note(messageOf(error));
    if (process.env['DEBUG'] && error instanceof Error) note(`${error.stack}`);
    process.exitCode = 1;
  }
}

/**
 * The message of an error in one line. A connection that was refused at several addresses
 * (localhost has two) throws an AggregateError without a message: the result is then the first
 * address's message.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return messageOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

/** A number with its noun, such as `1,200 responses`. */
export function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`;
}

/** Follows an error of the command line. */
export const helpOf = (usage: string) => `See "${usage} --help". Options follow the "--".`;

/**
 * A command line without arguments besides options and subcommands. Its errors are short, and name
 * how to get help.
 *
 * @param usage how it is called, up to its options
 */
export function commandLine(usage: string): Command {
  return new Command(usage).allowExcessArguments(false).showHelpAfterError(helpOf(usage));
}

/**
 * A `preAction` hook that makes options mandatory. Commander's `requiredOption` is checked before
 * unknown options, so that it would report `--emial` as a missing `--email`.
 */
export function needs(...names: readonly string[]): (program: Command, command: Command) => void {
  return (_, command) => {
    const missing = command.options.find(
      (option) =>
        names.includes(option.long ?? '') &&
        command.getOptionValue(option.attributeName()) === undefined,
    );

    if (missing) command.error(`error: required option '${missing.flags}' not specified`);
  };
}
