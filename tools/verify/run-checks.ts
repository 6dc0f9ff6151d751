import { messageOf } from '../command.ts';
import { printable } from '../keys/printable.ts';
import { NotTested } from './expect.ts';

/** A statement that should hold, and how to find out. */
export interface Check<T> {
  /** The statement, such as `the CSV file is complete`. */
  readonly name: string;
  /** @returns what to print beside it. @throws NotTested if it cannot be checked; any other error if it does not hold */
  readonly run: (target: T) => Promise<string | void>;
}

export interface Result {
  readonly name: string;
  readonly outcome: 'holds' | 'FAILS' | 'not tested';
  /** One or more lines; empty if there is nothing to add. */
  readonly details: string;
}

export interface RunOptions {
  /** Writes a line of the report. */
  readonly log?: (line: string) => void;
  /** Called with what is being done. */
  readonly progress?: (text: string) => void;
}

/** Runs checks one after another, and writes a line of a table for each. */
export async function runChecks<T>(
  checks: readonly Check<T>[],
  target: T,
  { log = () => {}, progress = () => {} }: RunOptions,
): Promise<Result[]> {
  const results: Result[] = [];
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const check of checks) {
    progress(check.name);
    const started = performance.now();
    const result = await runCheck(check, target);
    results.push(result);
    const { name, outcome, details } = result;
    const time = outcome === 'not tested' ? '' : ms(performance.now() - started);
    const [beside, ...below] = (outcome === 'FAILS' ? `\n${details}` : details).split('\n').map(printable);
    log([outcome.padEnd(10), name.padEnd(width), time.padStart(9), beside].join('  ').trimEnd());
    for (const line of below) log(' '.repeat(14) + line);
  }
  return results;
}

async function runCheck<T>({ name, run }: Check<T>, target: T): Promise<Result> {
  try {
    return { name, outcome: 'holds', details: (await run(target)) ?? '' };
  } catch (error) {
    if (error instanceof NotTested) return { name, outcome: 'not tested', details: error.message };
    // The reason of an error of fetch is its cause.
    const cause = error instanceof TypeError && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
    return { name, outcome: 'FAILS', details: messageOf(error) + cause };
  }
}

export const ms = (duration: number) => `${Math.round(duration).toLocaleString('en-US')} ms`;

/** How many statements have each outcome. */
export function summaryOf(results: readonly Result[]): string {
  const outcomes = Object.entries(Object.groupBy(results, ({ outcome }) => outcome));
  return outcomes.map(([outcome, { length }]) => `${outcome}: ${length}`).join(', ');
}
