import { reasonOf } from '../command.ts';
import { printable } from '../keys/printable.ts';
import { Mismatch, NotTested } from './expect.ts';

/** A statement that should hold, and how to find out. */
export interface Check<T> {
  /** The statement, such as `the CSV file is complete`. */
  readonly name: string;
  /** Whether nothing depends on it: if it does not hold, that is a difference, not a failure. */
  readonly isDetail?: boolean;
  /**
   * @returns what to print beside it
   * @throws Mismatch if the statement does not hold
   * @throws NotTested if it cannot be checked here
   */
  readonly run: (target: T) => Promise<string | void>;
}

export type Outcome = 'holds' | 'differs' | 'FAILS' | 'not tested';

export interface Result {
  readonly name: string;
  readonly outcome: Outcome;
  /** One or more lines; empty if there is nothing to add. */
  readonly details: string;
  readonly milliseconds: number;
}

const WIDTHS = { outcome: 'not tested'.length, time: 9 };

export interface RunOptions {
  /** Writes a line that stays. */
  readonly log: (line: string) => void;
  /** Called with the name of each check when it begins. */
  readonly begin?: (name: string) => void;
  /** Ends the run before the next check. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs checks one after another, and writes a line of a table for each. */
export async function runChecks<T>(
  checks: readonly Check<T>[],
  target: T,
  { log, begin = () => {}, signal }: RunOptions,
): Promise<Result[]> {
  const results: Result[] = [];
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const check of checks) {
    begin(check.name);
    const result = await runCheck(check, target);
    signal?.throwIfAborted();
    results.push(result);
    for (const line of linesOf(result, width)) log(line);
  }
  return results;
}

async function runCheck<T>({ name, isDetail = false, run }: Check<T>, target: T): Promise<Result> {
  const started = performance.now();
  const [outcome, details] = await run(target).then(
    (text): [Outcome, string] => ['holds', text ?? ''],
    (error: unknown): [Outcome, string] => {
      const failed = isDetail ? 'differs' : 'FAILS';
      const message = error instanceof Mismatch ? error.message : explained(error); // several lines, or one
      return [error instanceof NotTested ? 'not tested' : failed, message];
    },
  );
  return { name, outcome, details, milliseconds: performance.now() - started };
}

/** The reason of an error. That of fetch is its cause. */
function explained(error: unknown): string {
  const isOfFetch = error instanceof TypeError && error.cause !== undefined;
  return isOfFetch ? `${reasonOf(error)}: ${reasonOf(error.cause)}` : reasonOf(error);
}

/** How many statements have each outcome. */
export function summaryOf(results: readonly Result[]): string {
  const outcomes = Object.entries(Object.groupBy(results, ({ outcome }) => outcome));
  return outcomes.map(([outcome, { length }]) => `${outcome}: ${length}`).join(', ');
}

/** @param width of the column of names */
function linesOf({ name, outcome, details, milliseconds }: Result, width: number): string[] {
  const time = outcome === 'not tested' ? '' : `${Math.round(milliseconds).toLocaleString('en-US')} ms`;
  const [first = '', ...more] = details.split('\n').map(printable);
  const [beside, below] = /holds|not/.test(outcome) ? [first, more] : ['', [first, ...more]];
  const line = [outcome.padEnd(WIDTHS.outcome), name.padEnd(width), time.padStart(WIDTHS.time), beside];
  return [line.join('  ').trimEnd(), ...below.map((text) => `${' '.repeat(WIDTHS.outcome + 4)}${text}`)];
}
