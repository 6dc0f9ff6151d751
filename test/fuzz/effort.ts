import type { Parameters } from 'fast-check';

const { FUZZ_SEED, FUZZ_RUNS, FUZZ_SECONDS } = process.env;

/** For how long the long form runs a property, in milliseconds; undefined in `npm test`. */
const LIMIT_MS = FUZZ_SECONDS === undefined ? undefined : Number(FUZZ_SECONDS) * 1000;

/** How long a test may take: the long form, and time to make a failing case smaller. */
export const TIMEOUT_MS = (LIMIT_MS ?? 0) + 120_000;

/**
 * How often a property is tried. `FUZZ_SEED` repeats a run, `FUZZ_RUNS` and `FUZZ_SECONDS` make it longer.
 *
 * @param runs how often in `npm test`
 */
export function effort<T>(runs: number): Parameters<T> {
  return {
    endOnFailure: true, // a request is readable as it is, and to make it smaller takes minutes
    includeErrorInReport: true,
    ...(FUZZ_SEED === undefined ? {} : { seed: Number(FUZZ_SEED) }),
    ...(LIMIT_MS === undefined
      ? { numRuns: Number(FUZZ_RUNS ?? runs) }
      : { numRuns: Number(FUZZ_RUNS ?? 10_000_000), interruptAfterTimeLimit: LIMIT_MS }),
  };
}
