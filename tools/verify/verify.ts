import { messageOf } from '../command.ts';
import { printable } from '../keys/printable.ts';
import * as access from './access.ts';
import * as endedKeys from './ended-keys.ts';
import * as files from './files.ts';
import { NotTested, Subject, type VerifyOptions, ms } from './subject.ts';

/**
 * What a deployment can break, as statements that should hold. The rest of docs/api.md is left to
 * the tests of the service. A check returns what to print beside its statement. It throws NotTested
 * if it cannot be made, and any other error if the statement does not hold.
 */
export const CHECKS: Readonly<Record<string, (subject: Subject) => Promise<string | void>>> = {
  'the service reaches its database': access.checkHealth,
  'without a valid key, the status is 401': access.checkRefusals,
  'the key is accepted': access.checkKey,
  "neither key sees the other account's surveys": access.checkScoping,
  'placement and round trips are measured': access.measureRoundTrips,
  "the account's surveys are listed and counted": files.chooseSurvey,
  'the CSV file has as many responses as were counted': files.checkCsv,
  'the NDJSON file has the same responses': files.checkNdjson,
  'with gzip, the CSV file has the same bytes': files.checkGzip(1),
  'four simultaneous exports have the same bytes': files.checkGzip(4),
  'a CSV file resumed in the middle continues with the same bytes': files.checkResuming,
  'the workbook is complete': files.checkWorkbook,
  'summary and codebook count the same responses': files.checkCounts,
  'the digests match the CSV file and the form data': files.checkDigests,
  'an aborted transfer is visible over HTTP/1.1': endedKeys.checkAbort('HTTP/1.1'),
  'an aborted transfer is visible over HTTP/2': endedKeys.checkAbort('HTTP/2'),
  'an aborted transfer is visible with gzip': endedKeys.checkAbort('gzip'),
  'a revoked key is refused within 5 minutes': endedKeys.checkRevocation,
};

export interface Result {
  /** The statement. */
  readonly name: string;
  readonly outcome: 'holds' | 'FAILS' | 'not tested';
  /** One or more lines; empty if there is nothing to add. */
  readonly details: string;
}

/**
 * Tests a running service. Makes one check after another, and writes a line of a table for each.
 *
 * @param names the statements to test; all by default
 */
export async function verify(
  origin: string,
  options: VerifyOptions = {},
  names: readonly string[] = Object.keys(CHECKS),
): Promise<Result[]> {
  const { log, progress } = options;
  const subject = new Subject(origin, options);
  const width = Math.max(...names.map((name) => name.length));
  const results: Result[] = [];
  for (const name of names) {
    progress?.(name);
    const started = performance.now();
    const result = await resultOf(name, subject);
    results.push(result);
    const { outcome, details } = result;
    const time = outcome === 'not tested' ? '' : ms(performance.now() - started);
    const [beside, ...below] = (outcome === 'FAILS' ? `\n${details}` : details)
      .split('\n')
      .map(printable);
    log?.([outcome.padEnd(10), name.padEnd(width), time.padStart(9), beside].join('  ').trimEnd());
    for (const line of below) log?.(' '.repeat(14) + line);
  }

  return results;
}

async function resultOf(name: string, subject: Subject): Promise<Result> {
  try {
    return { name, outcome: 'holds', details: (await CHECKS[name]?.(subject)) ?? '' };
  } catch (error) {
    if (error instanceof NotTested) return { name, outcome: 'not tested', details: error.message };
    // The reason of an error of fetch is its cause.
    const cause =
      error instanceof TypeError && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
    return { name, outcome: 'FAILS', details: messageOf(error) + cause };
  }
}

/** How many statements have each outcome. */
export function summaryOf(results: readonly Result[]): string {
  const outcomes = Object.entries(Object.groupBy(results, ({ outcome }) => outcome));
  return outcomes.map(([outcome, { length }]) => `${outcome}: ${length}`).join(', ');
}
